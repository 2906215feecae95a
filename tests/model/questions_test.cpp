// SPDX-License-Identifier: BSD-3-Clause
#include "model/smollm2.h"

namespace pteron::test {
namespace {

std::vector<u32> text_of(const Session& session, size_t tokens) {
  return {session.tokens().begin(), session.tokens().begin() + std::ptrdiff_t(tokens)};
}

// Prompts as jinja2 and the tokenizers package make them, greedy answers as torch gives them with the dequantised
// weights. A golden ends where torch is not sure of the next token.
TEST_F(SmolLm2, AnswersToTwentyQuestionsEqualTorchTokenForToken) {
  const auto questions = golden("questions.json");
  ASSERT_EQ(questions.size(), 20u);
  Chat chat = *Chat::create(model());
  size_t compared = 0;
  for (const auto& row : questions) {
    SCOPED_TRACE(row["question"].get<std::string>());
    const std::vector<u32> expected = row["answer"];
    const bool ends = row["stopped"] == "end";
    chat.reset();
    auto answer = chat.ask(row["question"], {.max_tokens = expected.size() + (ends ? 1 : 0)});
    ASSERT_EQ(error_of(answer), "");
    EXPECT_EQ(text_of(chat.session(), answer->stats().prompt_tokens), row["prompt"].get<std::vector<u32>>());
    while (!answer->done()) ASSERT_EQ(error_of(answer->next()), "");
    EXPECT_EQ(std::vector<u32>(answer->tokens().begin(), answer->tokens().end()), expected);
    EXPECT_EQ(answer->reason(), ends ? StopReason::end_token : StopReason::max_tokens);
    compared += expected.size() + (ends ? 1 : 0);
  }
  EXPECT_GT(compared, 250u);
}

TEST_F(SmolLm2, AFollowUpReadsOnlyWhatIsNew) {
  Chat chat = *Chat::create(model());
  const auto ask = [&](const char* question, u32 least_reused) {
    auto answer = chat.ask(question, {.max_tokens = 16});
    EXPECT_EQ(error_of(answer), "");
    EXPECT_GE(answer->stats().reused_tokens, least_reused);
    while (!answer->done()) EXPECT_EQ(error_of(answer->next()), "");
    chat.keep(*answer);
    return answer->text();
  };
  EXPECT_EQ(ask("What is the capital of France?", 0), "The capital of France is Paris.");
  EXPECT_NE(ask("And of Italy?", 30).find("Rome"), std::string::npos);
}

}  // namespace
}  // namespace pteron::test
