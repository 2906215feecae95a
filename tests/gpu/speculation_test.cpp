// SPDX-License-Identifier: BSD-3-Clause
// Answers with drafts are those without, in fewer runs.
#include "gpu/language_model.h"
#include "support/repetitive_llama.h"

#include <pteron/generation.h>

#include <algorithm>

namespace pteron::test {
namespace {

using Tokens = std::vector<u32>;

LanguageModel repetitive_model() {
  auto program = Program::load(repetitive_llama(), {.device = device()});
  EXPECT_EQ(error_of(program), "");
  return *LanguageModel::create(*std::move(program), std::nullopt, std::nullopt);
}

Tokens prompt(u32 seed, u32 size) {
  Tokens out;
  for (u32 i = 0; i < size; ++i) out.push_back((seed + i * (1 + seed % 3)) % 5);
  return out;
}

struct Answer {
  Tokens tokens, text;  // text: what the session holds
  std::string readable;
  StopReason reason = StopReason::none;
  GenerationStats stats;
};

Answer finish(Generation answer, Session& session) {
  Answer out;
  while (!answer.done()) {
    const auto piece = answer.next();
    EXPECT_EQ(error_of(piece), "");
    if (!piece) return out;
    out.readable += piece->text;
  }
  EXPECT_EQ(out.readable, answer.text());
  out.tokens.assign(answer.tokens().begin(), answer.tokens().end());
  out.text.assign(session.tokens().begin(), session.tokens().end());
  out.reason = answer.reason();
  out.stats = answer.stats();
  return out;
}

Answer answer_of(const LanguageModel& model, const Tokens& prompt, GenerationOptions options, bool speculate) {
  options.speculate = speculate;
  Session session = *model.session();
  auto answer = Generation::start(model, session, prompt, std::move(options));
  EXPECT_EQ(error_of(answer), "");
  if (!answer) return {};
  return finish(*std::move(answer), session);
}

// The answer without drafts, which is that with them.
Answer expect_same(const LanguageModel& model, const Tokens& prompt, const GenerationOptions& options) {
  const Answer plain = answer_of(model, prompt, options, false), drafted = answer_of(model, prompt, options, true);
  EXPECT_EQ(drafted.tokens, plain.tokens);
  EXPECT_EQ(drafted.text, plain.text);
  EXPECT_EQ(drafted.readable, plain.readable);
  EXPECT_EQ(drafted.reason, plain.reason);
  EXPECT_EQ(plain.stats.drafted_tokens, 0u);
  EXPECT_LE(drafted.stats.held_tokens, drafted.stats.drafted_tokens);
  return drafted;
}

TEST(Speculation, GreedyAnswersAreTheSameInFewerRuns) {
  const LanguageModel model = repetitive_model();
  GenerationStats all;
  for (u32 seed = 0; seed < 8; ++seed) {
    const Answer answer = expect_same(model, prompt(seed, 20), {.max_tokens = 60, .ignore_end = true});
    EXPECT_EQ(answer.stats.runs + answer.stats.held_tokens, 60u);
    all.held_tokens += answer.stats.held_tokens;
    all.drafted_tokens += answer.stats.drafted_tokens;
  }
  EXPECT_GT(all.held_tokens, 0u);
  EXPECT_LT(all.held_tokens, all.drafted_tokens);  // some are taken back
}

TEST(Speculation, EndsWhereverAnAnswerWouldEnd) {
  const LanguageModel model = repetitive_model();
  for (u64 length = 1; length <= 12; ++length)
    EXPECT_EQ(expect_same(model, prompt(1, 20), {.max_tokens = length, .ignore_end = true}).tokens.size(), length);
  u32 ended = 0;
  for (u32 seed = 0; seed < 8; ++seed)
    ended += expect_same(model, prompt(seed, 20), {.max_tokens = 60}).reason == StopReason::end_token;
  EXPECT_GT(ended, 0u);
  const Answer full = expect_same(model, prompt(2, 30), {.max_tokens = 1000, .ignore_end = true});
  EXPECT_EQ(full.reason, StopReason::context_full);
  GenerationOptions sliding{.max_tokens = 150, .ignore_end = true};
  sliding.shorten = [](std::span<const u32> answer) -> Result<Tokens> {
    const auto last = answer.last(std::min<size_t>(answer.size(), 40));
    return Tokens(last.begin(), last.end());
  };
  EXPECT_GT(expect_same(model, prompt(2, 30), sliding).stats.shortened, 0u);
}

TEST(Speculation, StepsAsideWhereMoreThanTheBestTokenIsNeeded) {
  const LanguageModel model = tiny_model("full_logits");
  std::vector<GenerationOptions> all(5, {.max_tokens = 30, .ignore_end = true});
  all[0].sampling = {.temperature = 0.8f, .seed = 3};
  all[1].sampling.repetition_penalty = 1.2f;
  all[2].sampling.frequency_penalty = 0.5f;
  all[3].sampling.logprobs = 2;
  all[4].grammar = *Grammar::regex("[a-z ]*");
  for (const GenerationOptions& options : all)
    EXPECT_EQ(expect_same(model, prompt(3, 20), options).stats.drafted_tokens, 0u);
}

TEST(Speculation, ACancelledAnswerLeavesWhatItHasGiven) {
  const LanguageModel model = repetitive_model();
  for (u32 steps = 1; steps < 12; ++steps) {
    Session session = *model.session();
    auto answer =
        *Generation::start(model, session, prompt(1, 20), {.max_tokens = 60, .ignore_end = true, .speculate = true});
    for (u32 i = 0; i < steps; ++i) ASSERT_EQ(error_of(answer.next()), "");
    if (steps % 2 == 0) {
      ASSERT_EQ(error_of(answer.begin()), "");
    }
    answer.cancel();
    Tokens expected = prompt(1, 20);
    expected.insert(expected.end(), answer.tokens().begin(), answer.tokens().end());
    EXPECT_TRUE(std::ranges::equal(session.tokens(), expected)) << steps << " steps";
    // The state is that of this text.
    expect_same_answer(
        finish(*Generation::start(model, session, expected, {.max_tokens = 4, .ignore_end = true}), session).tokens,
        fresh_answer(model, expected, 4));
  }
}

TEST(Speculation, AnswersThatShareASubmitDraftNothing) {
  const LanguageModel model = repetitive_model();
  SessionBatch batch = *model.batch();
  std::vector<Session> sessions;
  std::vector<Generation> answers;
  sessions.reserve(2);
  for (u32 i = 0; i < 2; ++i) sessions.push_back(*model.session());
  const GenerationOptions options{.max_tokens = 40, .ignore_end = true, .speculate = true};
  answers.reserve(2);
  for (u32 i = 0; i < 2; ++i) answers.push_back(*Generation::start(model, sessions[i], prompt(i, 20), options));
  // One is alone for a while, so that it has tokens ready when the other joins.
  while (answers[0].ready() == 0 && !answers[0].done()) ASSERT_EQ(error_of(answers[0].next()), "");
  ASSERT_GT(answers[0].ready(), 0u);
  ASSERT_EQ(error_of(answers[1].next()), "");
  const u64 drafted = answers[0].stats().drafted_tokens;
  while (!answers[0].done() && !answers[1].done()) {
    Generation::Turn turns[] = {{&answers[0]}, {&answers[1]}};
    Generation::step(batch, turns);
    for (const auto& turn : turns) ASSERT_EQ(error_of(turn.status), "");
  }
  EXPECT_EQ(answers[0].stats().drafted_tokens, drafted);
  EXPECT_EQ(answers[1].stats().drafted_tokens, 0u);
  for (u32 i = 0; i < 2; ++i)
    expect_same_answer(answers[i].tokens(), fresh_answer(model, prompt(i, 20), answers[i].tokens().size()));
}

TEST(Speculation, ProgramsWithTheLastLogitsOnlySayThatTheyCant) {
  const LanguageModel model = tiny_model();
  Session session = *model.session();
  const auto answer = Generation::start(model, session, prompt(0, 5), {.speculate = true});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, ErrorKind::unsupported);
  EXPECT_NE(answer.error().message.find("--all-logits"), std::string::npos) << answer.error().message;
}

}  // namespace
}  // namespace pteron::test
