// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/chat_writer.h"

#include "server/api/chunk_stream.h"

namespace pteron::server {
namespace {

Json token_to_json(const TokenReport& token, bool with_top) {
  Json bytes = Json::array(), out{{"token", token.bytes}, {"logprob", token.logprob}};
  for (const char c : token.bytes) bytes.push_back(u8(c));
  out["bytes"] = std::move(bytes);
  if (!with_top) return out;
  out["top_logprobs"] = Json::array();
  for (const TokenReport& other : token.top) out["top_logprobs"].push_back(token_to_json(other, false));
  return out;
}

Json logprobs_of(const std::vector<TokenReport>& tokens) {
  Json content = Json::array();
  for (const TokenReport& token : tokens) content.push_back(token_to_json(token, true));
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

Json call_to_json(const CallMade& call) {
  return {{"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
}

class ChatObject : public AnswerWriter {
 public:
  ChatObject(std::shared_ptr<http::Reply> reply, u32 choices, ObjectHead head, bool logprobs)
      : AnswerWriter(std::move(reply), choices), head_(std::move(head)), logprobs_(logprobs) {}

  void complete(const Usage& usage) override {
    Json out{{"id", head_.id}, {"object", "chat.completion"}, {"created", head_.created}, {"model", head_.model}};
    out["choices"] = Json::array();
    for (u32 i = 0; i < choices_.size(); ++i) out["choices"].push_back(choice_to_json(i));
    out["usage"] = to_json(usage);
    reply_->send({.body = to_text(out)});
  }

 private:
  Json choice_to_json(u32 index) const {
    const ChoiceText& choice = choices_[index];
    Json message{{"role", "assistant"}, {"content", choice.content}, {"refusal", nullptr}};
    if (choice.content.empty() && !choice.calls.empty()) message["content"] = nullptr;
    if (!choice.reasoning.empty()) message["reasoning_content"] = choice.reasoning;
    for (const CallMade& call : choice.calls) message["tool_calls"].push_back(call_to_json(call));
    return {{"index", index},
            {"message", std::move(message)},
            {"logprobs", logprobs_ ? logprobs_of(choice.tokens) : Json()},
            {"finish_reason", choice.finish}};
  }

  ObjectHead head_;
  bool logprobs_;
};

class ChatChunks : public AnswerWriter {
 public:
  ChatChunks(std::shared_ptr<http::Reply> reply, u32 choices, ObjectHead head, bool logprobs, bool include_usage)
      : AnswerWriter(std::move(reply), choices),
        stream_(*reply_, std::move(head), include_usage),
        logprobs_(logprobs),
        begun_(choices) {}

  void reasoning(u32 choice, std::string_view text) override { send(choice, {{"reasoning_content", text}}); }
  void content(u32 choice, std::string_view text, std::vector<TokenReport> tokens) override {
    send(choice, {{"content", text}}, logprobs_ ? logprobs_of(tokens) : Json());
  }
  void call(u32 choice, u32 index, const std::string& name) override {
    Json call{{"index", index}, {"id", make_id("call_")}, {"type", "function"}};
    call["function"] = {{"name", name}, {"arguments", ""}};
    send(choice, {{"tool_calls", Json::array({std::move(call)})}});
  }
  void arguments(u32 choice, u32 index, std::string_view text) override {
    Json call{{"index", index}, {"function", {{"arguments", text}}}};
    send(choice, {{"tool_calls", Json::array({std::move(call)})}});
  }
  void finish(u32 choice, const std::string& reason) override {
    if (!begun_[choice]) send(choice, {{"content", ""}});
    send(choice, Json::object(), {}, reason);
  }
  void complete(const Usage& usage) override { stream_.end(usage); }
  void fail(const ApiError& error) override { stream_.fail(error); }
  void ping() override { stream_.ping(); }

 private:
  void send(u32 choice, const Json& delta, Json logprobs = {}, Json reason = {}) {
    Json with_role = begun_[choice] ? Json::object() : Json{{"role", "assistant"}};
    begun_[choice] = true;
    with_role.update(delta);
    stream_.send(Json::array({{{"index", choice},
                               {"delta", std::move(with_role)},
                               {"logprobs", std::move(logprobs)},
                               {"finish_reason", std::move(reason)}}}));
  }

  ChunkStream stream_;
  bool logprobs_;
  std::vector<bool> begun_;
};

}  // namespace

Json to_json(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt},
          {"completion_tokens", usage.completion},
          {"total_tokens", usage.prompt + usage.completion},
          {"prompt_tokens_details", {{"cached_tokens", usage.cached}}}};
}

std::unique_ptr<AnswerWriter> chat_object(std::shared_ptr<http::Reply> reply, u32 choices, ObjectHead head,
                                          bool logprobs) {
  return std::make_unique<ChatObject>(std::move(reply), choices, std::move(head), logprobs);
}

std::unique_ptr<AnswerWriter> chat_chunks(std::shared_ptr<http::Reply> reply, u32 choices, ObjectHead head,
                                          bool logprobs, bool include_usage) {
  return std::make_unique<ChatChunks>(std::move(reply), choices, std::move(head), logprobs, include_usage);
}

}  // namespace pteron::server
