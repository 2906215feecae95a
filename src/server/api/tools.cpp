// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/tools.h"

#include <algorithm>

namespace pteron::server {
namespace {

constexpr size_t most_tools = 128;
constexpr u32 most_calls = 8;  // of an answer that must call

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

Tool read_tool(const Json& function, const std::string& path) {
  if (!function.is_object()) refuse(path, "'", path, "' must be an object");
  const Fields fields(function, path);
  Tool out;
  out.name = fields.text("name").value_or("");
  if (!is_name(out.name))
    refuse(fields.path("name"), "'", fields.path("name"),
           "' must be 1 to 64 letters, digits, dots, dashes or underscores");
  out.description = fields.text("description").value_or("");
  const Json* parameters = fields.object("parameters");
  out.parameters = parameters ? *parameters : Json{{"type", "object"}, {"properties", Json::object()}};
  return out;
}

void choose_named(ToolUse& use, const Json& choice, bool responses_api) {
  const Json* function = &choice;
  if (!responses_api && choice.contains("function")) function = &choice["function"];
  if (!function->is_object()) refuse("tool_choice", "'tool_choice' must name a function");
  const std::string name = Fields(*function, "tool_choice").text("name").value_or("");
  std::erase_if(use.tools, [&](const Tool& tool) { return tool.name != name; });
  if (use.tools.empty()) refuse("tool_choice", "'tool_choice' names a tool that is not among 'tools'");
  use.choice = ToolUse::required;
}

}  // namespace

ToolUse read_tools(const Fields& request, bool responses_api) {
  ToolUse use;
  if (const Json* tools = request.list("tools")) {
    if (tools->size() > most_tools)
      refuse("tools", "there are ", tools->size(), " tools; at most ", most_tools, " can be");
    for (size_t i = 0; i < tools->size(); ++i) {
      const std::string path = str("tools[", i, "]");
      const Json& tool = (*tools)[i];
      if (!tool.is_object()) refuse(path, "'", path, "' must be an object");
      const std::string type = Fields(tool, path).text("type").value_or("function");
      if (type != "function" && responses_api) continue;
      if (type != "function") refuse(path + ".type", "'", path, ".type' must be function");
      use.tools.push_back(responses_api ? read_tool(tool, path)
                                        : read_tool(Fields(tool, path).require("function"), path + ".function"));
    }
  }
  if (!use.tools.empty()) use.choice = ToolUse::automatic;
  const Json* choice = request.find("tool_choice");
  if (!choice || (choice->is_string() && *choice == "auto")) return use;
  if (choice->is_string() && *choice == "none") {
    use.choice = ToolUse::none;
  } else if (choice->is_object()) {
    choose_named(use, *choice, responses_api);
  } else if (choice->is_string() && *choice == "required") {
    if (use.tools.empty()) refuse("tool_choice", "'tool_choice' is required, but there are no tools");
    use.choice = ToolUse::required;
    // Small models don't stop after the call that was asked for, and a last one that is cut does not parse.
    use.several = request.boolean("parallel_tool_calls").value_or(false);
  } else {
    refuse("tool_choice", "'tool_choice' must be none, auto, required or name a function");
  }
  return use;
}

std::string tools_for_template(const ToolUse& use) {
  Json out = Json::array();
  for (const Tool& tool : use.tools)
    out.push_back(
        {{"type", "function"},
         {"function", {{"name", tool.name}, {"description", tool.description}, {"parameters", tool.parameters}}}});
  return to_text(out);
}

std::string tools_as_text(const ToolUse& use) {
  std::string out = "You can call these functions:\n";
  for (const Tool& tool : use.tools)
    out += to_text({{"name", tool.name}, {"description", tool.description}, {"parameters", tool.parameters}}) + "\n";
  return out +
         "To call one, answer with its name and its arguments and nothing else:\n"
         "<tool_call>\n{\"name\": \"NAME\", \"arguments\": {}}\n</tool_call>";
}

Grammar call_grammar(const ToolUse& use, const ToolStyle& style) {
  Json calls = Json::array(), definitions = Json::object();
  for (const Tool& tool : use.tools) {
    Json parameters = tool.parameters;
    // References look for definitions at the root of the whole schema.
    for (const char* key : {"$defs", "definitions"})
      if (const auto found = parameters.find(key); found != parameters.end() && found->is_object()) {
        for (const auto& [name, schema] : found->items()) {
          Json& slot = definitions[key][name];
          if (!slot.is_null() && slot != schema)
            refuse("tools", "two tools define '", name, "' differently, so calls can't be enforced");
          slot = schema;
        }
        parameters.erase(key);
      }
    if (!parameters.contains("type")) parameters["type"] = "object";
    calls.push_back({{"type", "object"},
                     {"properties", {{"name", {{"const", tool.name}}}, {style.arguments, std::move(parameters)}}},
                     {"required", {"name", style.arguments}},
                     {"additionalProperties", false}});
  }
  Json schema = calls.size() == 1 ? calls[0] : Json{{"anyOf", calls}};
  schema.update(definitions);
  const bool several = use.several && style.tagged;
  const JsonSeries series{several ? most_calls : 1, "\n<tool_call>\n", "\n</tool_call>"};
  return value_or_refuse(Grammar::json_schema(to_text(schema), {.max_whitespace = 1}, series), "tools");
}

}  // namespace pteron::server
