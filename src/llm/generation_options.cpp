// SPDX-License-Identifier: BSD-3-Clause
#include "llm/generation_options.h"

#include "base/error.h"
#include "base/spelling.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace pteron {
namespace {

struct Given {
  std::string_view name;
  const Json& value;
};

Status read(const Given& given, f32& out) {
  const Json& value = given.value;
  if (!value.is_number()) return invalid("the option '", given.name, "' must be a number");
  out = f32(value.integer() ? f64(*value.integer()) : *value.real());
  return {};
}

template <class T>
Status read_count(const Given& given, T& out) {
  const i64* value = given.value.integer();
  if (!value || *value < 0 || u64(*value) > std::numeric_limits<T>::max())
    return invalid("the option '", given.name, "' must be a whole number that is not negative");
  out = T(*value);
  return {};
}

Status read(const Given& given, bool& out) {
  if (!given.value.boolean()) return invalid("the option '", given.name, "' must be true or false");
  out = *given.value.boolean();
  return {};
}

Status read(const Given& given, std::vector<std::string>& out) {
  const auto is_text = [](const Json& item) { return item.text() != nullptr; };
  if (!given.value.array() || !std::ranges::all_of(given.value.items(), is_text))
    return invalid("the option '", given.name, "' must be a list of texts");
  for (const Json& item : given.value.items()) out.push_back(*item.text());
  return {};
}

Status read_grammar(const Given& given, bool is_schema, std::optional<Grammar>& out) {
  if (out) return invalid("there can be a regex or a JSON schema; they exclude each other");
  const std::string* text = given.value.text();
  if (!text && !is_schema) return invalid("the option '", given.name, "' must be a text");
  const std::string source = text ? *text : given.value.dump();
  TRY(out, is_schema ? Grammar::json_schema(source) : Grammar::regex(source));
  return {};
}

}  // namespace

Status set_option(GenerationOptions& options, std::string_view name, const Json& value) {
  SamplerOptions& s = options.sampling;
  const Given given{name, value};
  const std::string spelled = snake_case(name);
  const std::pair<std::string_view, f32*> numbers[] = {{"temperature", &s.temperature},
                                                       {"top_p", &s.top_p},
                                                       {"min_p", &s.min_p},
                                                       {"repetition_penalty", &s.repetition_penalty},
                                                       {"presence_penalty", &s.presence_penalty},
                                                       {"frequency_penalty", &s.frequency_penalty}};
  for (const auto& [known, target] : numbers)
    if (spelled == known) return read(given, *target);
  if (spelled == "max_tokens") return read_count(given, options.max_tokens);
  if (spelled == "speculate") return read(given, options.speculate);
  if (spelled == "top_k") return read_count(given, s.top_k);
  if (spelled == "seed") return read_count(given, s.seed);
  if (spelled == "logprobs") return read_count(given, s.logprobs.emplace());
  if (spelled == "stop") return read(given, options.stops);
  if (spelled == "regex" || spelled == "json_schema")
    return read_grammar(given, spelled == "json_schema", options.grammar);
  return invalid("there is no option '", name, "'");
}

}  // namespace pteron
