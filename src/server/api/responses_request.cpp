// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/messages.h"
#include "server/api/responses.h"

namespace pteron::server {
namespace {

// Items of the input become messages; calls that follow each other belong to one.
class InputReader {
 public:
  Json messages = Json::array();

  void add(const Json& item, const std::string& path) {
    if (!item.is_object()) refuse(path, "'", path, "' must be an object");
    const Fields fields(item, path);
    const std::string type = fields.text("type").value_or("message");
    if (type == "message") return add_message(item, fields);
    if (type == "function_call") return add_call(fields);
    if (type == "function_call_output") return add_result(fields);
    if (type == "reasoning") return;  // thoughts of earlier answers
    refuse(fields.path("type"), "items of the type '", type, "' are not supported in 'input'");
  }

 private:
  void add_message(const Json& item, const Fields& fields) {
    // A call may follow, which looks at these before the message is read.
    role_ = fields.text("role").value_or("");
    (void)fields.list("tool_calls");
    Json message = item;
    message.erase("type");
    messages.push_back(std::move(message));
  }

  void add_call(const Fields& fields) {
    const Json call{
        {"id", fields.text("call_id").value_or("")},
        {"type", "function"},
        {"function",
         {{"name", fields.text("name").value_or("")}, {"arguments", fields.text("arguments").value_or("{}")}}}};
    if (role_ != "assistant") messages.push_back({{"role", "assistant"}, {"content", ""}});
    role_ = "assistant";
    messages.back()["tool_calls"].push_back(call);
  }

  void add_result(const Fields& fields) {
    role_ = "tool";
    messages.push_back({{"role", "tool"},
                        {"tool_call_id", fields.text("call_id").value_or("")},
                        {"content", read_content(fields.find("output"), fields.path("output"))}});
  }

  std::string role_;  // of the last message
};

Json read_input(const Fields& fields) {
  InputReader reader;
  if (const auto instructions = fields.text("instructions"))
    reader.messages.push_back({{"role", "system"}, {"content", *instructions}});
  const Json& input = fields.require("input");
  if (input.is_string()) {
    reader.messages.push_back({{"role", "user"}, {"content", input}});
  } else {
    const Json& items = *fields.list("input");
    if (items.empty()) refuse("input", "'input' is empty");
    for (size_t i = 0; i < items.size(); ++i) reader.add(items[i], str("input[", i, "]"));
  }
  return {{"messages", std::move(reader.messages)}};
}

}  // namespace

ResponsesRequest read_responses(const Json& body, const ModelTable& models) {
  const Fields fields(body);
  for (const char* name : {"previous_response_id", "conversation", "background", "prompt"}) fields.unsupported(name);
  ResponsesRequest out;
  ChatRequest& chat = out.chat;
  chat.model = read_model(fields, models);
  const Json conversation = read_input(fields);
  chat.messages = read_messages(Fields(conversation));
  chat.tools = read_tools(fields, true);
  chat.options = read_sampling(fields, *chat.model);
  if (const Json* text = fields.object("text"))
    chat.options.grammar = read_format(Fields(*text, "text").find("format"), "text.format");
  if (chat.options.grammar && chat.tools.forced())
    refuse("text.format", "'text.format' can't be kept together with a 'tool_choice' that asks for a call");
  chat.max_tokens = fields.integer("max_output_tokens", 1, INT32_MAX);
  chat.stream = fields.boolean("stream").value_or(false);
  const auto repeated = [&](const char* name, const Json& otherwise) {
    const Json* value = fields.find(name);
    out.echo[name] = value ? *value : otherwise;
  };
  repeated("instructions", nullptr);
  repeated("max_output_tokens", nullptr);
  repeated("metadata", Json::object());
  repeated("parallel_tool_calls", true);
  repeated("temperature", 1.0);
  repeated("text", {{"format", {{"type", "text"}}}});
  repeated("tool_choice", "auto");
  repeated("tools", Json::array());
  repeated("top_p", 1.0);
  repeated("truncation", "disabled");
  return out;
}

}  // namespace pteron::server
