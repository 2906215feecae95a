// SPDX-License-Identifier: BSD-3-Clause
// A conversation with a language model.
//
//   auto chat = pteron::Chat::create(model, {.system = "You are terse."});
//   auto answer = chat->ask("Why is the sky blue?", {});
//   while (!answer->done()) std::cout << answer->next()->text;
//   chat->keep(*answer);
#pragma once

#include <pteron/generation.h>

namespace pteron {

struct ChatMessage {
  std::string role, content;
  bool operator==(const ChatMessage&) const = default;
};

struct ChatOptions {
  std::string system;              // the first message, if not empty
  std::string template_variables;  // JSON: an object of further variables of the chat template
  // When the context is full, the oldest turns are dropped, of an answer that is longer than half of it the beginning,
  // and the rest is read again; else it is an error.
  bool slide = false;
};

class Chat {
 public:
  static Result<Chat> create(const LanguageModel& model, ChatOptions options = {});
  Chat(Chat&&) noexcept;
  Chat& operator=(Chat&&) noexcept;
  ~Chat();

  // What was said, also what no longer fits into the context.
  const std::vector<ChatMessage>& messages() const;
  u32 dropped() const;  // messages behind the system's that the model does not see any more

  // An answer to the conversation with this message added to it. If it fails, nothing has changed. Only one answer at
  // a time; until `keep` the message is not part of the conversation.
  Result<Generation> ask(std::string text, GenerationOptions options);
  // The same for hosts that keep the conversation themselves: it becomes these messages, the last of which is answered.
  // What it has in common with the one before is not read again.
  Result<Generation> answer(std::vector<ChatMessage> messages, GenerationOptions options);
  // Adds the message and its answer, as far as it came.
  void keep(const Generation& answer);

  // For answers from now on; another system message is one from `reset` on.
  void configure(ChatOptions options);
  // Back to the first so many messages.
  Status rewind(size_t messages);
  void reset();
  Result<Chat> fork() const;
  // A list of {"role": …, "content": …}.
  std::string to_json() const;
  Session& session();
  const Session& session() const;

 private:
  struct Impl;
  explicit Chat(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace pteron
