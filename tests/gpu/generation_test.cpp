// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/language_model.h"

#include <algorithm>

namespace pteron::test {
namespace {

Generation start(const LanguageModel& model, Session& session, std::string_view prompt, GenerationOptions options) {
  auto answer = Generation::start(model, session, *model.encode(prompt), std::move(options));
  EXPECT_EQ(error_of(answer), "");
  return *std::move(answer);
}

std::string run(Generation& answer) {
  std::string text;
  while (!answer.done()) {
    auto piece = answer.next();
    EXPECT_EQ(error_of(piece), "");
    if (!piece) break;
    text += piece->text;
  }
  EXPECT_EQ(text, answer.text());
  return text;
}

TEST(Generation, GreedyReadsBackOneTokenAndEqualsAllLogits) {
  const LanguageModel model = tiny_model();
  Session session = *model.session(), other = *model.session(), third = *model.session();
  auto best = start(model, session, "Once upon a time", {.max_tokens = 20, .ignore_end = true});
  auto scored = start(model, third, "Once upon a time",
                      {.sampling = {.temperature = 0, .logprobs = 3}, .max_tokens = 20, .ignore_end = true});
  auto all = start(model, other, "Once upon a time",
                   {.sampling = {.temperature = 0, .logprobs = 200}, .max_tokens = 20, .ignore_end = true});
  EXPECT_EQ(run(best), run(all));
  EXPECT_EQ(run(scored), all.text());
  EXPECT_TRUE(std::ranges::equal(best.tokens(), all.tokens()));
  EXPECT_EQ(best.stats().readback, Readback::best);
  EXPECT_LE(best.stats().read_back_bytes, 64u);
  EXPECT_EQ(all.stats().readback, Readback::logits);
  EXPECT_EQ(all.piece().top.size(), 200u);
  EXPECT_EQ(all.piece().top[0].token, *all.piece().token);
  EXPECT_EQ(scored.stats().readback, Readback::scored);
  EXPECT_LT(scored.stats().read_back_bytes, all.stats().read_back_bytes / 2);
  EXPECT_NEAR(scored.piece().logprob, all.piece().logprob, 1e-5);
  ASSERT_EQ(scored.piece().top.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(scored.piece().top[i].token, all.piece().top[i].token);
    EXPECT_NEAR(scored.piece().top[i].logprob, all.piece().top[i].logprob, 1e-5);
  }
  EXPECT_EQ(best.reason(), StopReason::max_tokens);
  EXPECT_EQ(best.stats().answer_tokens, 20u);
}

TEST(Generation, ASeedGivesTheSameAnswerWhereverItIsSampled) {
  const LanguageModel model = tiny_model();
  const SamplerOptions with_top_k{.temperature = 0.9f, .top_k = 40, .top_p = 0.9f, .seed = 7};
  const auto answer = [&](SamplerOptions sampling, Readback expected) {
    Session session = *model.session();
    auto generation =
        start(model, session, "Hello", {.sampling = std::move(sampling), .max_tokens = 30, .ignore_end = true});
    run(generation);
    EXPECT_EQ(generation.stats().readback, expected);
    return std::vector<u32>(generation.tokens().begin(), generation.tokens().end());
  };
  const auto on_gpu = answer(with_top_k, Readback::candidates);
  SamplerOptions on_host = with_top_k, with_logprobs = with_top_k;
  on_host.logprobs = 200;
  with_logprobs.logprobs = 0;
  EXPECT_EQ(answer(on_host, Readback::logits), on_gpu);
  EXPECT_EQ(answer(with_logprobs, Readback::scored), on_gpu);
  EXPECT_EQ(answer(with_top_k, Readback::candidates), on_gpu);
  SamplerOptions other_seed = with_top_k;
  other_seed.seed = 8;
  EXPECT_NE(answer(other_seed, Readback::candidates), on_gpu);
  answer({.temperature = 1, .top_p = 0.5f}, Readback::logits);
}

TEST(Generation, ARepetitionPenaltyFromCandidatesEqualsTheWholeRow) {
  const LanguageModel model = tiny_model();
  const auto answer = [&](std::optional<u32> logprobs) {
    Session session = *model.session();
    auto generation = start(model, session, "a b c",
                            {.sampling = {.temperature = 0, .repetition_penalty = 1.3f, .logprobs = logprobs},
                             .max_tokens = 40,
                             .ignore_end = true});
    run(generation);
    return std::vector<u32>(generation.tokens().begin(), generation.tokens().end());
  };
  EXPECT_EQ(answer(std::nullopt), answer(0));
}

TEST(Generation, EndTokensEndTheAnswerAndAreNotPartOfIt) {
  const LanguageModel model = tiny_model();
  Session session = *model.session();
  const u32 end = *model.tokenizer()->id("<|im_end|>");
  ASSERT_TRUE(model.is_end(end));
  auto answer = start(model, session, "x", {.sampling = {.temperature = 0, .logit_bias = {{end, 1000}}}});
  EXPECT_EQ(run(answer), "");
  EXPECT_EQ(answer.reason(), StopReason::end_token);
  EXPECT_EQ(answer.stats().answer_tokens, 0u);
}

TEST(Generation, StopStringsAreCutOff) {
  const LanguageModel model = tiny_model();
  Session session = *model.session();
  // The grammar makes the model say it.
  auto answer = start(model, session, "Once",
                      {.max_tokens = 40, .stops = {"never", "STOP"}, .grammar = *Grammar::regex("abc STOP def")});
  EXPECT_EQ(run(answer), "abc ");
  EXPECT_EQ(answer.reason(), StopReason::stop_string);
  EXPECT_FALSE(Generation::start(model, session, {1}, {.stops = {""}}).has_value());
}

TEST(Generation, AGrammarIsKept) {
  const LanguageModel model = tiny_model();
  Session session = *model.session();
  auto digits =
      start(model, session, "The number is ", {.max_tokens = 50, .grammar = *Grammar::regex("[0-9]{3}-[ab]+c")});
  const std::string text = run(digits);
  EXPECT_EQ(digits.stats().readback, Readback::logits);
  ASSERT_GE(text.size(), 4u);
  EXPECT_TRUE(std::ranges::all_of(text.substr(0, 3), [](char c) { return c >= '0' && c <= '9'; })) << text;
  EXPECT_EQ(text[3], '-');
  auto choice = start(model, session, "yes or no? ", {.grammar = *Grammar::regex("yes|no")});
  const std::string word = run(choice);
  EXPECT_TRUE(word == "yes" || word == "no") << word;
  EXPECT_TRUE(choice.reason() == StopReason::grammar || choice.reason() == StopReason::end_token);
}

TEST(Generation, AFullContextEndsTheAnswer) {
  const LanguageModel model = tiny_model();
  Session session = *model.session();
  auto answer = start(model, session, "x", {.max_tokens = UINT64_MAX, .ignore_end = true});
  run(answer);
  EXPECT_EQ(answer.reason(), StopReason::context_full);
  EXPECT_EQ(answer.stats().prompt_tokens + answer.stats().answer_tokens, 129u);  // the last one needs no place
  EXPECT_EQ(session.room(), 0u);
}

TEST(Generation, AFullContextCanBeShortened) {
  const LanguageModel model = tiny_model();
  Session session = *model.session();
  const std::vector<u32> prompt(100, 5);
  GenerationOptions options{.max_tokens = 60, .ignore_end = true};
  options.shorten = [](std::span<const u32> answer) {
    std::vector<u32> text(20, 5);
    text.insert(text.end(), answer.begin(), answer.end());
    return text;
  };
  auto answer = *Generation::start(model, session, prompt, options);
  run(answer);
  EXPECT_EQ(answer.reason(), StopReason::max_tokens);
  EXPECT_EQ(answer.stats().shortened, 1u);
  const auto tokens = answer.tokens();
  ASSERT_EQ(tokens.size(), 60u);
  // Behind the cut the answer goes on as from a fresh prefill of the shorter text.
  std::vector<u32> text(20, 5);
  text.insert(text.end(), tokens.begin(), tokens.begin() + 29);
  expect_same_answer(tokens.subspan(29), fresh_answer(model, text, 31));
}

TEST(Generation, AnswersLongerThanTheContextGoOnFromTheirEnd) {
  const LanguageModel model = tiny_model();
  Session session = *model.session();
  GenerationOptions options{.max_tokens = 300, .ignore_end = true};
  options.shorten = [](std::span<const u32> answer) { return std::vector<u32>(answer.end() - 40, answer.end()); };
  auto answer = *Generation::start(model, session, std::vector<u32>(9, 5), options);
  run(answer);
  EXPECT_EQ(answer.reason(), StopReason::max_tokens);
  EXPECT_EQ(answer.tokens().size(), 300u);
  EXPECT_EQ(answer.stats().shortened, 3u);
}

TEST(Generation, WhatEndsAnAnswerCountsMoreThanAFullContext) {
  const LanguageModel model = tiny_model();
  Session session = *model.session();
  auto answer = *Generation::start(model, session, std::vector<u32>(128, 5), {.max_tokens = 1, .ignore_end = true});
  run(answer);
  EXPECT_EQ(answer.reason(), StopReason::max_tokens);
}

TEST(Generation, ACancelledAnswerLeavesAUsableSession) {
  const LanguageModel model = tiny_model();
  Session session = *model.session();
  auto cut = start(model, session, "Tell me a long story", {.max_tokens = 50, .ignore_end = true});
  ASSERT_EQ(error_of(cut.next()), "");
  ASSERT_EQ(error_of(cut.begin()), "");
  cut.cancel();  // in the middle of a run
  EXPECT_EQ(cut.reason(), StopReason::cancelled);
  EXPECT_FALSE(cut.begin().has_value());
  auto again = start(model, session, "Tell me a long story", {.max_tokens = 12, .ignore_end = true});
  EXPECT_GT(again.stats().reused_tokens, 0u);
  run(again);
  expect_same_answer(again.tokens(), fresh_answer(model, *model.encode("Tell me a long story"), 12));
}

TEST(Generation, StepsWithoutBlockingGiveTheSameTokens) {
  const LanguageModel model = tiny_model();
  Session session = *model.session();
  auto answer = start(model, session, "abc", {.max_tokens = 10, .ignore_end = true});
  while (!answer.done()) {
    ASSERT_EQ(error_of(answer.begin()), "");
    for (;;) {
      const auto finished = answer.finish(/*wait=*/false);
      ASSERT_EQ(error_of(finished), "");
      if (*finished) break;
    }
  }
  Session other = *model.session();
  auto blocking = start(model, other, "abc", {.max_tokens = 10, .ignore_end = true});
  run(blocking);
  EXPECT_TRUE(std::ranges::equal(answer.tokens(), blocking.tokens()));
}

TEST(Generation, WhatIsWrongIsSaidBeforeAnythingRuns) {
  const LanguageModel model = tiny_model();
  Session session = *model.session();
  const auto refused = [&](std::vector<u32> prompt, GenerationOptions options, const char* why) {
    const auto answer = Generation::start(model, session, std::move(prompt), std::move(options));
    EXPECT_NE(error_of(answer).find(why), std::string::npos) << error_of(answer);
  };
  refused(std::vector<u32>(129, 1), {}, "129 tokens, but the model's context holds 128");
  refused({999}, {}, "vocabulary of 512");
  refused({1}, {.sampling = {.temperature = -1}}, "temperature");
  EXPECT_NE(error_of(model.encode("\xff")).find("not valid UTF-8"), std::string::npos);
  const LanguageModel bare = tiny_model("rope_llama", false);
  EXPECT_NE(error_of(bare.encode("a")).find("no tokenizer"), std::string::npos);
  EXPECT_NE(error_of(Generation::start(bare, session, {1}, {.grammar = *Grammar::json()})).find("no tokenizer"),
            std::string::npos);
}

TEST(Generation, WithoutATokenizerTokensStillCome) {
  const LanguageModel model = tiny_model("rope_llama", false);
  Session session = *model.session();
  auto answer =
      *Generation::start(model, session, {37, 235, 396, 72, 255, 393, 203}, {.max_tokens = 5, .ignore_end = true});
  EXPECT_EQ(run(answer), "");
  EXPECT_EQ(answer.tokens().size(), 5u);
}

}  // namespace
}  // namespace pteron::test
