// SPDX-License-Identifier: BSD-3-Clause
// Drafts with a real model: the same answers in fewer runs.
#include "model/smollm2.h"

namespace pteron::test {
namespace {

// The gap is that between the two best log-probabilities.
std::vector<Step> plain_answer(const LanguageModel& model, const std::vector<u32>& prompt, u64 count) {
  Session session = *model.session();
  auto answer = *Generation::start(
      model, session, prompt, {.sampling = {.temperature = 0, .logprobs = 2}, .max_tokens = count, .ignore_end = true});
  std::vector<Step> out;
  while (!answer.done()) {
    const auto piece = answer.next();
    EXPECT_EQ(error_of(piece), "");
    if (!piece) break;
    out.push_back({*piece->token, piece->top[0].logprob - piece->top[1].logprob});
  }
  return out;
}

TEST_F(SmolLm2, DraftsGiveTheSameAnswersInFewerRuns) {
  ASSERT_NO_FATAL_FAILURE(convert_with_all_logits(160));
  LanguageModelOptions options;
  options.load.device = device();
  const auto model = LanguageModel::load(all_logits_program(), options);
  ASSERT_EQ(error_of(model), "");
  const auto expect_same = [&](std::string_view text) {
    constexpr u64 count = 32;
    const std::vector<u32> prompt = *model->encode(text);
    Session session = *model->session();
    auto answer =
        *Generation::start(*model, session, prompt, {.max_tokens = count, .ignore_end = true, .speculate = true});
    while (!answer.done()) EXPECT_EQ(error_of(answer.next()), "");
    EXPECT_EQ(answer.tokens().size(), count);
    expect_same_answer(answer.tokens(), plain_answer(*model, prompt, count));
    EXPECT_EQ(answer.stats().runs + answer.stats().held_tokens, count);
    return answer.stats();
  };
  const GenerationStats list = expect_same("red, green, blue, red, green, blue, red, green, blue, red,");
  EXPECT_LE(list.runs, 16u) << list.held_tokens << " of " << list.drafted_tokens << " held";
  expect_same("Dear Anna,\n\nthank you for your letter. Last week we went to the sea, and");
}

}  // namespace
}  // namespace pteron::test
