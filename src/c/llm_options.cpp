// SPDX-License-Identifier: BSD-3-Clause
#include "c/llm_options.h"

#include "base/error.h"
#include "llm/json/json.h"

#include <limits>
#include <utility>

namespace pteron::c {
namespace {

Status read_number(const JsonMember& member, f32& out) {
  const Json& value = member.value;
  if (!value.is_number()) return invalid("the option '", member.name, "' must be a number");
  out = f32(value.integer() ? f64(*value.integer()) : *value.real());
  return {};
}

template <class T>
Status read_count(const JsonMember& member, T& out) {
  const i64* value = member.value.integer();
  if (!value || *value < 0 || u64(*value) > std::numeric_limits<T>::max())
    return invalid("the option '", member.name, "' must be a whole number that is not negative");
  out = T(*value);
  return {};
}

Status read_text(const JsonMember& member, std::string& out) {
  if (!member.value.text()) return invalid("the option '", member.name, "' must be a text");
  out = *member.value.text();
  return {};
}

Status read_flag(const JsonMember& member, bool& out) {
  if (!member.value.boolean()) return invalid("the option '", member.name, "' must be true or false");
  out = *member.value.boolean();
  return {};
}

Status read_grammar(const JsonMember& member, std::optional<Grammar>& out) {
  if (out) return invalid("there can be a regex or a json_schema, not both");
  std::string text;
  TRY_DO(read_text(member, text));
  TRY(out, member.name == "regex" ? Grammar::regex(text) : Grammar::json_schema(text));
  return {};
}

Status read_stops(const JsonMember& member, std::vector<std::string>& out) {
  for (const Json& stop : member.value.items()) {
    if (!stop.text()) return invalid("the option 'stop' must be a list of texts");
    out.push_back(*stop.text());
  }
  return {};
}

Status read_member(const JsonMember& member, GenerationOptions& out) {
  SamplerOptions& s = out.sampling;
  const std::pair<std::string_view, f32*> numbers[] = {{"temperature", &s.temperature},
                                                       {"top_p", &s.top_p},
                                                       {"min_p", &s.min_p},
                                                       {"repetition_penalty", &s.repetition_penalty},
                                                       {"presence_penalty", &s.presence_penalty},
                                                       {"frequency_penalty", &s.frequency_penalty}};
  for (const auto& [name, target] : numbers)
    if (member.name == name) return read_number(member, *target);
  if (member.name == "max_tokens") return read_count(member, out.max_tokens);
  if (member.name == "speculate") return read_flag(member, out.speculate);
  if (member.name == "top_k") return read_count(member, s.top_k);
  if (member.name == "seed") return read_count(member, s.seed);
  if (member.name == "logprobs") return read_count(member, s.logprobs.emplace());
  if (member.name == "stop") return read_stops(member, out.stops);
  if (member.name == "regex" || member.name == "json_schema") return read_grammar(member, out.grammar);
  return invalid("there is no option '", member.name, "'");
}

}  // namespace

Result<GenerationOptions> read_generation(const char* json) {
  GenerationOptions out;
  if (!json) return out;
  TRY(const Json root, within(Json::parse(json), "the options"));
  if (!root.object()) return invalid("the options must be a JSON object");
  for (const JsonMember& member : root.members()) TRY_DO(read_member(member, out));
  return out;
}

}  // namespace pteron::c
