// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/language_model.h"

namespace pteron::test {
namespace {

GenerationOptions short_answer() { return {.max_tokens = 6, .ignore_end = true}; }

std::string ask(Chat& chat, const std::string& text, GenerationOptions options = short_answer()) {
  auto answer = chat.ask(text, std::move(options));
  EXPECT_EQ(error_of(answer), "");
  if (!answer) return "";
  while (!answer->done()) EXPECT_EQ(error_of(answer->next()), "");
  chat.keep(*answer);
  return answer->text();
}

TEST(Chat, AFollowUpReadsOnlyWhatIsNew) {
  const LanguageModel model = tiny_model();
  Chat chat = *Chat::create(model, {.system = "Be brief."});
  ask(chat, "Hi");
  auto second = *chat.ask("And?", short_answer());
  EXPECT_GT(second.stats().reused_tokens, 12u);
  EXPECT_EQ(chat.messages().size(), 3u);
  EXPECT_EQ(chat.messages()[0].role, "system");
}

TEST(Chat, AnswersEqualThoseOfAFreshConversation) {
  const LanguageModel model = tiny_model();
  Chat chat = *Chat::create(model);
  ask(chat, "One");
  ask(chat, "Two");
  Chat fork = *chat.fork();
  const std::string here = ask(chat, "Three"), there = ask(fork, "Three");
  EXPECT_EQ(here, there);
  ASSERT_EQ(error_of(chat.rewind(2)), "");
  ask(chat, "Two");
  EXPECT_EQ(chat.messages()[3], fork.messages()[3]);
  EXPECT_FALSE(chat.rewind(9).has_value());
}

TEST(Chat, AFullContextIsAnErrorThatLosesNothing) {
  Chat chat = *Chat::create(tiny_model());
  ask(chat, "Hello");
  const auto before = chat.messages();
  const auto answer = chat.ask(std::string(300, 'q'), short_answer());
  EXPECT_NE(error_of(answer).find("context of 128"), std::string::npos) << error_of(answer);
  EXPECT_NE(error_of(chat.ask("\xC3\x28", short_answer())).find("not valid UTF-8 at byte 0"), std::string::npos);
  EXPECT_EQ(chat.messages(), before);
  ask(chat, "Still there?");
  EXPECT_EQ(chat.messages().size(), 4u);
}

TEST(Chat, SlidingDropsTheOldestTurnsAndKeepsTheSystemMessage) {
  Chat chat = *Chat::create(tiny_model(), {.system = "S.", .slide = true});
  for (int turn = 0; turn < 30; ++turn) {
    ask(chat, "Question " + std::to_string(turn), {.max_tokens = 20, .ignore_end = true});
    if (HasFailure()) return;
  }
  EXPECT_EQ(chat.messages().size(), 61u);
  EXPECT_GT(chat.dropped(), 40u);
  const auto text = chat.session().info().context;
  EXPECT_LE(chat.session().tokens().size(), text);
  // One message that can never fit.
  EXPECT_FALSE(chat.ask(std::string(400, 'q'), short_answer()).has_value());
  EXPECT_EQ(chat.messages().size(), 61u);
}

TEST(Chat, SlidingGoesOnInTheMiddleOfAnAnswer) {
  Chat chat = *Chat::create(tiny_model(), {.slide = true});
  ask(chat, "aaaaaaaaaaaaaaaa", {.max_tokens = 30, .ignore_end = true});
  auto answer = *chat.ask("b", {.max_tokens = 90, .ignore_end = true});
  while (!answer.done()) ASSERT_EQ(error_of(answer.next()), "");
  EXPECT_EQ(answer.stats().shortened, 1u);
  EXPECT_GT(answer.tokens().size(), 60u);
}

TEST(Chat, AnAnswerMayBeLongerThanTheContext) {
  Chat chat = *Chat::create(tiny_model(), {.slide = true});
  auto answer = *chat.ask("b", {.max_tokens = 300, .ignore_end = true});
  while (!answer.done()) ASSERT_EQ(error_of(answer.next()), "");
  EXPECT_EQ(answer.tokens().size(), 300u);
  EXPECT_GE(answer.stats().shortened, 3u);
}

TEST(Chat, AnswersAListOfMessagesAsIfItHadBeenAsked) {
  const LanguageModel model = tiny_model();
  Chat asked = *Chat::create(model, {.system = "Be brief."}), given = *Chat::create(model);
  ask(asked, "One");
  const std::string wanted = ask(asked, "Two");
  std::vector<ChatMessage> messages(asked.messages().begin(), asked.messages().end() - 1);
  auto answer = *given.answer(messages, short_answer());
  while (!answer.done()) ASSERT_EQ(error_of(answer.next()), "");
  EXPECT_EQ(answer.text(), wanted);
  given.keep(answer);
  EXPECT_EQ(given.messages(), asked.messages());
  EXPECT_NE(error_of(given.answer({}, short_answer())).find("no message"), std::string::npos);
  EXPECT_EQ(given.messages(), asked.messages());
}

TEST(Chat, AnAnswerThatWasBegunGoesOnAsItWould) {
  const LanguageModel model = tiny_model();
  GenerationOptions options{.sampling = {.temperature = 1.3f, .frequency_penalty = 1, .seed = 11},
                            .max_tokens = 24,
                            .grammar = *Grammar::regex("([a-z]{2,5} )+")};
  Chat chat = *Chat::create(model);
  auto whole = *chat.ask("Hi", options);
  while (!whole.done()) ASSERT_EQ(error_of(whole.next()), "");
  options.begun.assign(whole.tokens().begin(), whole.tokens().begin() + 9);
  Chat other = *Chat::create(model);
  auto rest = *other.ask("Hi", options);
  std::string shown;
  while (!rest.done()) {
    ASSERT_EQ(error_of(rest.next()), "");
    shown += rest.piece().text;
  }
  EXPECT_EQ(rest.text(), whole.text());
  EXPECT_TRUE(whole.text().ends_with(shown) && shown.size() < whole.text().size()) << shown;
}

TEST(Chat, IsSavedAsJson) {
  Chat chat = *Chat::create(tiny_model(), {.system = "He said \"é\"\n"});
  EXPECT_EQ(chat.to_json(), R"([{"role": "system", "content": "He said \"é\"\n"}])");
  ask(chat, "x");
  chat.reset();
  EXPECT_EQ(chat.messages().size(), 1u);
}

TEST(Chat, NeedsATokenizerAndATemplate) {
  EXPECT_NE(error_of(Chat::create(tiny_model("rope_llama", false))).find("no tokenizer"), std::string::npos);
  EXPECT_NE(error_of(Chat::create(tiny_model(), {.system = "\xFF"})).find("UTF-8"), std::string::npos);
}

}  // namespace
}  // namespace pteron::test
