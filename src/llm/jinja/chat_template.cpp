// SPDX-License-Identifier: BSD-3-Clause
#include <pteron/chat_template.h>

#include "base/error.h"
#include "base/utf8.h"
#include "llm/jinja/renderer.h"
#include "llm/json/json.h"

#include <chrono>

namespace pteron {
namespace {

using jinja::Value;

Result<Value> to_value(jinja::Heap& heap, const Json& json) {
  if (const auto* b = json.boolean()) return Value(*b);
  if (const auto* i = json.integer()) return Value(*i);
  if (const auto* f = json.real()) return Value(*f);
  if (const auto* text = json.text()) return text_value(heap, *text);
  if (const auto* array = json.array()) {
    std::vector<Value> items;
    for (const Json& item : *array) {
      TRY(Value value, to_value(heap, item));
      items.push_back(std::move(value));
    }
    return list_value(heap, std::move(items));
  }
  if (const auto* object = json.object()) {
    jinja::Dict dict;
    for (const JsonMember& m : *object) {
      TRY(Value value, to_value(heap, m.value));
      dict.set(text_value(heap, m.name), std::move(value));
    }
    return dict_value(heap, std::move(dict));
  }
  return Value(jinja::None());
}

i64 clock_seconds() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

// Reads JSON into the renderer's variables.
Result<Value> read(jinja::Renderer& renderer, std::string_view text, std::string_view what) {
  TRY(const Json json, within(Json::parse(text), what));
  return to_value(renderer.heap(), json);
}

Status define_inputs(jinja::Renderer& renderer, const ChatInputs& inputs) {
  TRY(Value messages, read(renderer, inputs.messages, "messages"));
  if (!messages.list()) return invalid("the messages must be a JSON list, not ", kind_of(messages));
  Value tools{jinja::None()};
  if (!inputs.tools.empty()) {
    TRY(tools, read(renderer, inputs.tools, "tools"));
    if (!tools.list() && !tools.is_none()) return invalid("the tools must be a JSON list, not ", kind_of(tools));
  }
  for (std::string_view token : {inputs.bos_token, inputs.eos_token})
    if (!utf8::valid(token)) return invalid("the special tokens must be valid UTF-8");
  if (!inputs.bos_token.empty()) renderer.define("bos_token", renderer.text(std::string(inputs.bos_token)));
  if (!inputs.eos_token.empty()) renderer.define("eos_token", renderer.text(std::string(inputs.eos_token)));
  renderer.define("messages", std::move(messages));
  renderer.define("tools", std::move(tools));
  renderer.define("documents", jinja::None());
  renderer.define("add_generation_prompt", inputs.add_generation_prompt);
  if (inputs.variables.empty()) return {};
  TRY(const Value variables, read(renderer, inputs.variables, "variables"));
  if (!variables.dict()) return invalid("the variables must be a JSON object, not ", kind_of(variables));
  for (const auto& [name, value] : variables.dict()->entries()) renderer.define(*name.text(), value);
  return {};
}

}  // namespace

struct ChatTemplate::Impl {
  TemplateLimits limits;
  std::unique_ptr<const jinja::Template> source;
};

ChatTemplate::ChatTemplate(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

Result<ChatTemplate> ChatTemplate::parse(std::string_view text, const TemplateLimits& limits) {
  TRY(auto source, within(jinja::parse(text, limits), "chat template"));
  return ChatTemplate(std::make_unique<Impl>(limits, std::move(source)));
}

Result<std::string> ChatTemplate::render(const ChatInputs& inputs) const {
  jinja::Renderer renderer(*impl_->source, impl_->limits, inputs.local_time ? *inputs.local_time : clock_seconds());
  TRY_DO(define_inputs(renderer, inputs));
  return within(renderer.run(), "chat template");
}

}  // namespace pteron
