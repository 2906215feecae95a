// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "base/utf8.h"
#include "llm/json/json.h"

#include <pteron/chat.h>

namespace pteron {

struct Chat::Impl {
  LanguageModel model;
  Session session;
  ChatOptions options;
  std::vector<ChatMessage> messages;
  std::optional<ChatMessage> question;  // that is being answered
  size_t first = 0;                     // of the messages that the model sees, besides the system's

  size_t system_messages() const { return !messages.empty() && messages[0].role == "system" ? 1 : 0; }
  std::string to_json(bool visible_only) const;
  Result<std::vector<u32>> prompt() const;
  Result<std::vector<u32>> prompt_of_at_most(u32 tokens);
  bool drop_oldest_turn();
  static Result<Generation> start(const std::shared_ptr<Impl>& chat, GenerationOptions options);
};

std::string Chat::Impl::to_json(bool visible_only) const {
  std::string out = "[";
  const auto add = [&](const ChatMessage& message) {
    if (out.size() > 1) out += ", ";
    out += str("{\"role\": ", json_quoted(message.role), ", \"content\": ", json_quoted(message.content), "}");
  };
  for (size_t i = 0; i < messages.size(); ++i)
    if (!visible_only || i < system_messages() || i >= first) add(messages[i]);
  if (visible_only && question) add(*question);
  return out + "]";
}

Result<std::vector<u32>> Chat::Impl::prompt() const {
  const Tokenizer& tokenizer = *model.tokenizer();
  const auto spelled = [&](std::optional<u32> id) { return id ? tokenizer.token(*id).value_or("") : ""; };
  const std::string json = to_json(true);
  TRY(const std::string text, model.chat_template()->render({.messages = json,
                                                             .variables = options.template_variables,
                                                             .bos_token = spelled(tokenizer.bos()),
                                                             .eos_token = spelled(tokenizer.eos())}));
  return tokenizer.encode(text, {.add_special = false});  // the template writes them
}

// Up to the next message of a user.
bool Chat::Impl::drop_oldest_turn() {
  if (first >= messages.size()) return false;
  do ++first;
  while (first < messages.size() && messages[first].role != "user");
  return true;
}

Result<std::vector<u32>> Chat::Impl::prompt_of_at_most(u32 tokens) {
  TRY(auto out, prompt());
  const u64 whole = out.size();
  while (out.size() > tokens) {
    if (!options.slide || !drop_oldest_turn())
      return invalid("the conversation has ", whole, " tokens, but only ", tokens, " of the model's context of ",
                     model.info().context, " are left for it; start a new one, shorten it, or let it slide");
    TRY(out, prompt());
  }
  return out;
}

Result<Chat> Chat::create(const LanguageModel& model, ChatOptions options) {
  if (!model.tokenizer()) return not_found("the model has no tokenizer; name its file");
  if (!model.chat_template())
    return not_found("the model has no chat template; name a file with one, or generate from a prompt instead");
  if (!utf8::valid(options.system)) return invalid("the system message is not valid UTF-8");
  TRY(Session session, model.session());
  Chat chat(std::make_shared<Impl>(model, std::move(session), std::move(options)));
  chat.reset();
  return chat;
}

Chat::Chat(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Chat::Chat(Chat&&) noexcept = default;
Chat& Chat::operator=(Chat&&) noexcept = default;
Chat::~Chat() = default;

const std::vector<ChatMessage>& Chat::messages() const { return impl_->messages; }
u32 Chat::dropped() const { return u32(impl_->first - impl_->system_messages()); }
Session& Chat::session() { return impl_->session; }
const Session& Chat::session() const { return impl_->session; }
std::string Chat::to_json() const { return impl_->to_json(false); }

// The question is set. Room for the answer: a quarter of the context, if turns are dropped at all.
Result<Generation> Chat::Impl::start(const std::shared_ptr<Impl>& chat, GenerationOptions options) {
  const u32 context = chat->model.info().context;
  TRY(auto prompt, chat->prompt());
  if (prompt.size() >= context) {
    TRY(prompt, chat->prompt_of_at_most(context - std::max(context / 4, 1u)));
  }
  if (chat->options.slide)
    options.shorten = [chat, context](std::span<const u32> answer) -> Result<std::vector<u32>> {
      answer = answer.last(std::min<size_t>(answer.size(), context / 2));
      TRY(auto shorter, chat->prompt_of_at_most(context - u32(answer.size()) - std::max(context / 4, 1u)));
      shorter.insert(shorter.end(), answer.begin(), answer.end());
      return shorter;
    };
  return Generation::start(chat->model, chat->session, std::move(prompt), std::move(options));
}

Result<Generation> Chat::ask(std::string text, GenerationOptions options) {
  std::vector<ChatMessage> messages = impl_->messages;
  messages.push_back({"user", std::move(text)});
  return answer(std::move(messages), std::move(options));
}

Result<Generation> Chat::answer(std::vector<ChatMessage> messages, GenerationOptions options) {
  if (messages.empty()) return invalid("there is no message to answer");
  for (const ChatMessage& message : messages)
    if (const size_t bad = utf8::find_invalid(message.content); bad != message.content.size())
      return invalid("the message is not valid UTF-8 at byte ", bad);
  Impl& chat = *impl_;
  ChatMessage question = std::move(messages.back());
  messages.pop_back();
  const size_t first = chat.first;
  std::swap(chat.messages, messages);
  chat.question = std::move(question);
  // Turns that were dropped stay so, unless this is another conversation.
  const bool goes_on =
      chat.messages.size() >= first &&
      std::equal(chat.messages.begin(), chat.messages.begin() + std::ptrdiff_t(first), messages.begin());
  chat.first = std::max(goes_on ? first : 0, chat.system_messages());
  auto answer = Impl::start(impl_, std::move(options));
  if (!answer) {
    chat.messages = std::move(messages);
    chat.question.reset();
    chat.first = first;
  }
  return answer;
}

void Chat::configure(ChatOptions options) { impl_->options = std::move(options); }

void Chat::keep(const Generation& answer) {
  if (!impl_->question) return;
  impl_->messages.push_back(*std::exchange(impl_->question, std::nullopt));
  impl_->messages.push_back({"assistant", answer.text()});
}

Status Chat::rewind(size_t messages) {
  if (messages > impl_->messages.size())
    return invalid("can't go back to ", messages, " messages: there are only ", impl_->messages.size());
  if (messages < impl_->system_messages()) return invalid("the system message stays; use reset to start again");
  impl_->messages.resize(messages);
  impl_->question.reset();
  impl_->first = std::min(impl_->first, messages);
  return {};
}

void Chat::reset() {
  impl_->messages.clear();
  impl_->question.reset();
  if (!impl_->options.system.empty()) impl_->messages.push_back({"system", impl_->options.system});
  impl_->first = impl_->system_messages();
}

Result<Chat> Chat::fork() const {
  TRY(Session session, impl_->session.fork());
  Chat out(std::make_shared<Impl>(impl_->model, std::move(session), impl_->options));
  out.impl_->messages = impl_->messages;
  out.impl_->first = impl_->first;
  return out;
}

}  // namespace pteron
