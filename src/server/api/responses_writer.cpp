// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/responses.h"

namespace pteron::server {
namespace {

// The response object grows by output items while the answer arrives; the events are its growth.
class ResponseObject : public AnswerWriter {
 public:
  ResponseObject(std::shared_ptr<http::Reply> reply, const ResponsesRequest& request)
      : AnswerWriter(std::move(reply), 1) {
    response_ = {{"id", make_id("resp_")},          {"object", "response"},    {"created_at", unix_time()},
                 {"status", "in_progress"},         {"error", nullptr},        {"incomplete_details", nullptr},
                 {"model", request.chat.model->id}, {"output", Json::array()}, {"usage", nullptr}};
    response_.update(request.echo);
    response_["previous_response_id"] = nullptr;
    response_["store"] = false;
  }

  void reasoning(u32, std::string_view text) override {
    open(Item::reasoning,
         {{"type", "reasoning"}, {"id", make_id("rs_")}, {"summary", Json::array()}, {"content", Json::array()}});
    grow(text);
  }
  void content(u32, std::string_view text, std::vector<TokenReport>) override {
    open(Item::message,
         {{"type", "message"}, {"id", make_id("msg_")}, {"role", "assistant"}, {"content", Json::array()}});
    grow(text);
  }
  void call(u32, u32, const std::string& name) override {
    close_item();
    open(Item::call, {{"type", "function_call"},
                      {"id", make_id("fc_")},
                      {"call_id", make_id("call_")},
                      {"name", name},
                      {"arguments", ""}});
  }
  void arguments(u32, u32, std::string_view text) override { grow(text); }
  void finish(u32, const std::string& reason) override {
    if (response_["output"].empty() && item_ == Item::none) content(0, "", {});
    complete_ = reason != "length";
    close_item();
  }
  void complete(const Usage& usage) override {
    response_["status"] = complete_ ? "completed" : "incomplete";
    if (!complete_) response_["incomplete_details"] = {{"reason", "max_output_tokens"}};
    response_["usage"] = {{"input_tokens", usage.prompt},
                          {"input_tokens_details", {{"cached_tokens", usage.cached}}},
                          {"output_tokens", usage.completion},
                          {"output_tokens_details", {{"reasoning_tokens", 0}}},
                          {"total_tokens", usage.prompt + usage.completion}};
    deliver();
  }

 protected:
  enum class Item { none, reasoning, message, call };

  virtual void deliver() { reply_->send({.body = to_text(response_)}); }
  // An item or its part is new, has more text, or is done.
  virtual void on_opened() {}
  virtual void on_text(std::string_view) {}
  virtual void on_closed() {}

  // The item that grows is the last of the output.
  Json& item() { return response_["output"].back(); }
  size_t output_index() const { return response_["output"].size() - 1; }
  Json part(const std::string& text) const {
    if (item_ == Item::reasoning) return {{"type", "reasoning_text"}, {"text", text}};
    return {{"type", "output_text"}, {"text", text}, {"annotations", Json::array()}, {"logprobs", Json::array()}};
  }

  Json response_;
  Item item_ = Item::none;
  std::string text_;  // of the item
  bool complete_ = true;

 private:
  void open(Item kind, Json item) {
    if (item_ == kind && kind != Item::call) return;
    close_item();
    item_ = kind;
    text_.clear();
    item["status"] = "in_progress";
    response_["output"].push_back(std::move(item));
    on_opened();
  }
  void grow(std::string_view text) {
    text_ += text;
    if (!text.empty()) on_text(text);
  }
  void close_item() {
    if (item_ == Item::none) return;
    item()["status"] = complete_ ? "completed" : "incomplete";
    if (item_ == Item::call)
      item()["arguments"] = text_;
    else
      item()["content"] = Json::array({part(text_)});
    on_closed();
    item_ = Item::none;
  }
};

class ResponseEvents : public ResponseObject {
 public:
  using ResponseObject::ResponseObject;

  void fail(const ApiError& error) override {
    if (!reply_->begun()) return AnswerWriter::fail(error);
    response_["status"] = "failed";
    response_["error"] = {{"code", error.code.empty() ? "server_error" : error.code}, {"message", error.message}};
    send("response.failed", {{"response", response_}});
    reply_->end();
  }
  void ping() override {
    begin();
    reply_->write(": reading the prompt\n\n");
  }

 private:
  void begin() {
    if (reply_->begun()) return;
    reply_->begin(200, "text/event-stream; charset=utf-8");
    send("response.created", {{"response", response_}});
    send("response.in_progress", {{"response", response_}});
  }
  void send(const std::string& type, const Json& members) {
    Json event{{"type", type}, {"sequence_number", sequence_++}};
    event.update(members);
    reply_->write(str("event: ", type, "\ndata: ", to_text(event), "\n\n"));
  }
  void send_part(const std::string& type, Json members) {
    members["item_id"] = item()["id"];
    members["output_index"] = output_index();
    if (item_ != Item::call) members["content_index"] = 0;
    send(type, members);
  }
  std::string text_event(const char* what) const {
    if (item_ == Item::call) return str("response.function_call_arguments.", what);
    return str(item_ == Item::message ? "response.output_text." : "response.reasoning_text.", what);
  }

  void on_opened() override {
    // The head says what there was before the item.
    Json opened = item();
    if (!reply_->begun()) {
      response_["output"].erase(response_["output"].size() - 1);
      begin();
      response_["output"].push_back(opened);
    }
    send("response.output_item.added", {{"output_index", output_index()}, {"item", opened}});
    if (item_ != Item::call) send_part("response.content_part.added", {{"part", part("")}});
  }
  void on_text(std::string_view text) override {
    Json members{{"delta", text}};
    if (item_ == Item::message) members["logprobs"] = Json::array();
    send_part(text_event("delta"), std::move(members));
  }
  void on_closed() override {
    Json members{{item_ == Item::call ? "arguments" : "text", text_}};
    if (item_ == Item::message) members["logprobs"] = Json::array();
    if (item_ == Item::call) members["name"] = item()["name"];
    send_part(text_event("done"), std::move(members));
    if (item_ != Item::call) send_part("response.content_part.done", {{"part", part(text_)}});
    send("response.output_item.done", {{"output_index", output_index()}, {"item", item()}});
  }
  void deliver() override {
    send(complete_ ? "response.completed" : "response.incomplete", {{"response", response_}});
    reply_->end();
  }

  u64 sequence_ = 0;
};

}  // namespace

std::unique_ptr<AnswerWriter> response_object(std::shared_ptr<http::Reply> reply, const ResponsesRequest& request) {
  return std::make_unique<ResponseObject>(std::move(reply), request);
}

std::unique_ptr<AnswerWriter> response_events(std::shared_ptr<http::Reply> reply, const ResponsesRequest& request) {
  return std::make_unique<ResponseEvents>(std::move(reply), request);
}

}  // namespace pteron::server
