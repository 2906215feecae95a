// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/llama.h"
#include "model/smollm2.h"

#include <algorithm>

namespace pteron::test {
namespace {

constexpr u32 longest_text = 160;

struct Turn {
  std::vector<u32> text;  // the prompt and its answer
  size_t prompt_size = 0;
};

bool begins_with(const Turn& whole, const Turn& part) {
  return part.text.size() <= whole.text.size() &&
         std::ranges::equal(part.text, std::span(whole.text).first(part.text.size()));
}

// A run that is under way is cancelled too.
Turn ask(Chat& chat, const std::string& question, u64 max_tokens, u64 cancel_after) {
  auto answer = chat.ask(question, {.max_tokens = max_tokens});
  EXPECT_EQ(error_of(answer), "");
  while (!answer->done()) {
    if (answer->tokens().size() == cancel_after) {
      EXPECT_EQ(error_of(answer->begin()), "");
      answer->cancel();
      break;
    }
    EXPECT_EQ(error_of(answer->next()), "");
  }
  const auto prompt = chat.session().tokens().first(answer->stats().prompt_tokens);
  Turn turn{{prompt.begin(), prompt.end()}, prompt.size()};
  turn.text.insert(turn.text.end(), answer->tokens().begin(), answer->tokens().end());
  chat.keep(*answer);
  return turn;
}

// Goes back every few turns, and between two branches that were one conversation once.
std::vector<Turn> thirty_turns(const LanguageModel& model) {
  const char* questions[] = {"Hi!", "Why?", "A fruit?", "And then?", "In French?", "2 + 3?", "Who are you?"};
  Chat chat = *Chat::create(model, {.system = "Hi"});
  std::optional<Chat> branch;
  std::vector<Turn> turns;
  for (u32 turn = 0; turn < 30; ++turn) {
    const size_t deep = chat.messages().size();
    size_t kept = deep > 7 ? 3 : deep;
    if (turn % 5 == 4 && kept > 3) kept -= 2 + turn % 2 * 2;
    EXPECT_EQ(error_of(chat.rewind(std::max<size_t>(kept, 1))), "");
    if (turn % 7 == 2) branch.emplace(*chat.fork());
    if (turn % 7 == 5 && branch) std::swap(chat, *branch);
    turns.push_back(ask(chat, questions[turn * 4 % 7], 2 + turn % 4, turn % 6 == 3 ? 2 : UINT64_MAX));
  }
  return turns;
}

// Every token that the logits decide by more than 0.05 must be the best one; returns how many those are.
u32 judge(const Turn& turn, std::span<const f32> logits, size_t vocabulary) {
  u32 sure = 0;
  for (size_t i = turn.prompt_size; i < turn.text.size(); ++i) {
    const auto row = logits.subspan((i - 1) * vocabulary, vocabulary);
    const auto best = std::ranges::max_element(row);
    f32 second = -INFINITY;
    for (auto at = row.begin(); at != row.end(); ++at)
      if (at != best) second = std::max(second, *at);
    if (*best - second <= 0.05f) continue;
    ++sure;
    EXPECT_EQ(turn.text[i], u32(best - row.begin())) << "token " << i;
  }
  return sure;
}

// One prefill of a text tells what follows each of its tokens, so it judges all turns that the text begins with.
TEST_F(SmolLm2, ThirtyTurnsWithRewindsForksAndCancelsEqualFreshPrefills) {
  std::vector<Turn> turns = thirty_turns(model());
  ASSERT_EQ(turns.size(), 30u);
  std::ranges::sort(turns, std::ranges::greater(), [](const Turn& t) { return t.text.size(); });
  ASSERT_LE(turns[0].text.size(), longest_text);

  ASSERT_NO_FATAL_FAILURE(convert_with_all_logits(longest_text));
  auto program = Program::load(all_logits_program(), LoadOptions{.device = device()});
  ASSERT_EQ(error_of(program), "");
  auto method = program->method("forward");
  ASSERT_EQ(error_of(method), "");
  u32 sure = 0;
  while (!turns.empty()) {
    const Turn longest = turns.front();
    const auto outputs = Llama::step(*method, {longest.text.begin(), longest.text.end()}, 0);
    ASSERT_EQ(error_of(outputs), "");
    std::erase_if(turns, [&](const Turn& turn) {
      if (!begins_with(longest, turn)) return false;
      sure += judge(turn, (*outputs)[0].as<f32>(), model().info().vocab_size);
      return true;
    });
  }
  EXPECT_GT(sure, 60u);
}

}  // namespace
}  // namespace pteron::test
