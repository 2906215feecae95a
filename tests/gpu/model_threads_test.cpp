// SPDX-License-Identifier: BSD-3-Clause
// Several threads and one language model.
#include "gpu/language_model.h"
#include "support/on_threads.h"

#include <pteron/chat_template.h>
#include <pteron/grammar.h>

#include <fstream>

namespace pteron::test {
namespace {

TEST(ThreadsOfAModel, SessionsAnswerAtTheSameTimeAsTheyDoAlone) {
  const LanguageModel model = tiny_model();
  const auto answer = [&](u32 seed) {
    Session session = *model.session();
    GenerationOptions options{.sampling = {.temperature = 1, .seed = seed}, .max_tokens = 12, .ignore_end = true};
    options.grammar = *Grammar::regex("[a-z ]*");
    auto generation = Generation::start(model, session, *model.encode("Once upon a time"), std::move(options));
    while (!generation->done())
      if (const auto piece = generation->next(); !piece) return piece.error().to_string();
    return generation->text();
  };
  const std::vector<std::string> alone{answer(0), answer(1), answer(2)};
  std::vector<std::string> together(3);
  on_threads(3, [&](u32 t) {
    together[t] = answer(t);
    return "";
  });
  EXPECT_EQ(together, alone);
}

TEST(ThreadsOfAModel, AnAnswerEndsWhereAnotherThreadsFlagSaysSo) {
  const LanguageModel model = tiny_model();
  std::atomic<bool> stop = false;
  std::latch talking(1), stopped(1);
  on_threads(2, [&](u32 t) -> std::string {
    if (t == 0) {
      talking.wait();
      stop = true;
      stopped.count_down();
      return "";
    }
    Session session = *model.session();
    auto answer = Generation::start(model, session, *model.encode("Once"), {.max_tokens = 100, .ignore_end = true});
    while (!answer->done()) {
      if (answer->tokens().size() == 3) {
        talking.count_down();
        stopped.wait();
      }
      if (stop)
        answer->cancel();
      else if (const auto piece = answer->next(); !piece)
        return piece.error().to_string();
    }
    return answer->reason() == StopReason::cancelled && answer->tokens().size() == 3 ? "" : "it went on";
  });
}

TEST(ThreadsOfAModel, TokenizersTemplatesAndGrammarsAreShared) {
  const auto file = read_bytes(data_folder() / "tiny_tokenizer" / "tokenizer.json");
  const Tokenizer tokenizer = *Tokenizer::load(file);
  std::ifstream source(data_folder() / "chat_templates" / "llama3.jinja");
  const auto form = ChatTemplate::parse(std::string(std::istreambuf_iterator(source), {}));
  const Grammar grammar = *Grammar::json();
  std::vector<std::string> vocabulary;
  vocabulary.reserve(tokenizer.vocab_size());
  for (u32 id = 0; id < tokenizer.vocab_size(); ++id) vocabulary.push_back(tokenizer.bytes(id));
  const TokenTrie trie = *TokenTrie::build(vocabulary, tokenizer.end_tokens());
  const auto work = [&] {
    const auto text = form->render({.messages = R"([{"role": "user", "content": "Grüße, 世界"}])", .bos_token = "<s>"});
    std::string out = text ? *text : text.error().to_string();
    const std::vector<u32> tokens = *tokenizer.encode(out);
    for (const u32 token : tokens) out += str(" ", token);
    GrammarMatcher matcher(grammar, trie);
    for (const std::string_view part : {"{\"a\"", ": [1", ", true", "]}"}) {
      if (!matcher.advance(part)) return str(out, " refused");
      const auto allowed = matcher.allowed();
      for (const u64 word : allowed ? *allowed : TokenMask()) out += str(" ", word);
    }
    return out;
  };
  const std::string alone = work();
  EXPECT_EQ(work(), alone);
  std::vector<std::string> together(4);
  on_threads(4, [&](u32 t) {
    together[t] = work();
    return "";
  });
  for (const std::string& result : together) EXPECT_EQ(result, alone);
}

}  // namespace
}  // namespace pteron::test
