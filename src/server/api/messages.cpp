// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/messages.h"

#include <algorithm>
#include <array>

namespace pteron::server {
namespace {

constexpr size_t most_messages = 4096;

std::string read_part(const Json& part, const std::string& path) {
  if (part.is_string()) return part.get<std::string>();
  if (!part.is_object()) refuse(path, "'", path, "' must be an object");
  const Fields fields(part, path);
  const std::string type = fields.text("type").value_or("");
  for (const char* name : {"text", "input_text", "output_text"})
    if (type == name) return fields.require("text"), fields.text("text").value_or("");
  if (type == "refusal") return fields.text("refusal").value_or("");
  if (type.contains("image") || type.contains("audio") || type.contains("file") || type.contains("video"))
    refuse(path, "the model reads text only, but '", path, "' is of the type '", type, "'; leave it out");
  refuse(fields.path("type"), "'", fields.path("type"), "' must be text");
}

Json read_calls(const Json& calls, const std::string& path) {
  Json out = Json::array();
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::string here = str(path, "[", i, "]");
    if (!calls[i].is_object()) refuse(here, "'", here, "' must be an object");
    const Json* function = Fields(calls[i], here).object("function");
    if (!function) refuse(here + ".function", "'", here, ".function' is missing");
    const Fields fields(*function, here + ".function");
    if (!fields.text("name")) refuse(fields.path("name"), "'", fields.path("name"), "' is missing");
    const std::string text = fields.text("arguments").value_or("{}");
    // Templates write arguments as JSON themselves.
    Json arguments = parse_inner(text);
    if (!arguments.is_object()) arguments = text;
    out.push_back({{"id", Fields(calls[i], here).text("id").value_or("")},
                   {"type", "function"},
                   {"function", {{"name", *fields.text("name")}, {"arguments", std::move(arguments)}}}});
  }
  return out;
}

Json read_message(const Json& message, const std::string& path) {
  if (!message.is_object()) refuse(path, "'", path, "' must be an object");
  const Fields fields(message, path);
  std::string role = fields.text("role").value_or("");
  if (role == "developer") role = "system";
  constexpr std::array<std::string_view, 4> known{"system", "user", "assistant", "tool"};
  if (std::ranges::find(known, role) == known.end())
    refuse(fields.path("role"), "'", fields.path("role"), "' must be system, developer, user, assistant or tool");
  const Json* calls = fields.list("tool_calls");
  if (!fields.find("content") && !(role == "assistant" && (calls || fields.find("reasoning_content"))))
    refuse(fields.path("content"), "'", fields.path("content"), "' is missing");
  Json out{{"role", role}, {"content", read_content(fields.find("content"), fields.path("content"))}};
  if (role == "assistant" && calls && !calls->empty())
    out["tool_calls"] = read_calls(*calls, fields.path("tool_calls"));
  if (const auto thoughts = fields.text("reasoning_content"); thoughts && role == "assistant")
    out["reasoning_content"] = *thoughts;
  for (const char* name : {"name", "tool_call_id"})
    if (const auto text = fields.text(name)) out[name] = *text;
  return out;
}

}  // namespace

std::string read_content(const Json* content, const std::string& path) {
  if (!content) return "";
  if (content->is_string()) return content->get<std::string>();
  if (!content->is_array()) refuse(path, "'", path, "' must be a string or an array of parts");
  std::string out;
  for (size_t i = 0; i < content->size(); ++i) out += read_part((*content)[i], str(path, "[", i, "]"));
  return out;
}

Json read_messages(const Fields& request) {
  request.require("messages");
  const Json& messages = *request.list("messages");
  if (messages.empty()) refuse("messages", "'messages' is empty; at least one is needed");
  if (messages.size() > most_messages)
    refuse("messages", "there are ", messages.size(), " messages; at most ", most_messages, " can be");
  Json out = Json::array();
  for (size_t i = 0; i < messages.size(); ++i) out.push_back(read_message(messages[i], str("messages[", i, "]")));
  return out;
}

Json without_tool_messages(Json messages) {
  for (Json& message : messages) {
    std::string content = message["content"];
    if (const auto calls = message.find("tool_calls"); calls != message.end())
      for (const Json& call : *calls) {
        if (!content.empty()) content += "\n";
        content += str("<tool_call>\n", to_text(call["function"]), "\n</tool_call>");
      }
    if (message["role"] == "tool") content = str("<tool_response>\n", content, "\n</tool_response>");
    const std::string role = message["role"] == "tool" ? "user" : message["role"].get<std::string>();
    message = {{"role", role}, {"content", content}};
  }
  return messages;
}

void add_system_text(Json& messages, const std::string& text) {
  if (!messages.empty() && messages[0]["role"] == "system") {
    messages[0]["content"] = messages[0]["content"].get<std::string>() + "\n\n" + text;
    return;
  }
  Json with = Json::array({{{"role", "system"}, {"content", text}}});
  for (Json& message : messages) with.push_back(std::move(message));
  messages = std::move(with);
}

}  // namespace pteron::server
