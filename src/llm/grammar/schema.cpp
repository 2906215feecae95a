// SPDX-License-Identifier: BSD-3-Clause
#include "llm/grammar/schema.h"

#include "base/error.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace pteron::grammar {
namespace {

constexpr size_t max_schema_bytes = 1 << 20;

using Names = std::span<const std::string_view>;
constexpr std::string_view annotations[] = {"title",     "description", "default",     "examples",   "example",
                                            "$schema",   "$id",         "$comment",    "deprecated", "readOnly",
                                            "writeOnly", "$defs",       "definitions", "$anchor"};
constexpr std::string_view object_keywords[] = {"properties", "required", "additionalProperties"};
constexpr std::string_view array_keywords[] = {"items", "prefixItems", "minItems", "maxItems"};
constexpr std::string_view string_keywords[] = {"minLength", "maxLength", "pattern", "format"};
constexpr std::string_view number_keywords[] = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"};
constexpr std::string_view other_keywords[] = {"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "nullable"};

constexpr std::string_view type_names[] = {"null", "boolean", "integer", "number", "string", "array", "object"};

bool is_in(std::string_view name, Names names) { return std::ranges::find(names, name) != names.end(); }
bool is_annotation(std::string_view name) { return is_in(name, annotations) || name.starts_with("x-"); }

// The type that a schema without "type" speaks of; empty: any.
std::string_view type_from_keywords(const Json& schema) {
  struct Kind {
    Names keywords;
    std::string_view type;
  };
  for (const auto& [keywords, type] : {Kind{object_keywords, "object"}, Kind{array_keywords, "array"},
                                       Kind{string_keywords, "string"}, Kind{number_keywords, "number"}})
    for (std::string_view keyword : keywords)
      if (schema.find(keyword)) return type;
  return "";
}

bool has_type(const Json& value, std::string_view type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.boolean();
  if (type == "integer") return value.integer() || (value.real() && *value.real() == std::floor(*value.real()));
  if (type == "number") return value.is_number();
  if (type == "string") return value.text();
  return type == "array" ? value.array() != nullptr : value.object() != nullptr;
}

// The types that "type" allows; none if there is no "type".
Result<std::vector<std::string>> types_of(const Json& schema) {
  std::vector<std::string> types;
  const Json* type = schema.find("type");
  if (!type) return types;
  const Json::Array single{*type};
  for (const Json& t : type->array() ? *type->array() : single) {
    if (!t.text() || !is_in(*t.text(), type_names))
      return invalid("\"type\" must be null, boolean, integer, number, string, array or object, or a list of these");
    types.push_back(*t.text());
  }
  return types;
}

}  // namespace

Status SchemaCompiler::check_keywords(const Json& schema) const {
  for (const JsonMember& m : *schema.object()) {
    const bool known = is_annotation(m.name) || is_in(m.name, object_keywords) || is_in(m.name, array_keywords) ||
                       is_in(m.name, string_keywords) || is_in(m.name, number_keywords) ||
                       is_in(m.name, other_keywords);
    const bool off = m.name == "uniqueItems" && m.value.boolean() && !*m.value.boolean();
    if (!known && !off) return unsupported("the keyword \"", m.name, "\" can't be kept by a grammar; remove it");
  }
  return {};
}

Status SchemaCompiler::stands_alone(const Json& schema, std::string_view keyword) const {
  for (const JsonMember& m : *schema.object())
    if (m.name != keyword && m.name != "nullable" && !is_annotation(m.name))
      return unsupported("\"", keyword, "\" together with \"", m.name,
                         "\" can't be kept by a grammar; write the schema out");
  return {};
}

Result<RuleId> SchemaCompiler::compile() {
  const RuleId main = rule_of(document_, "#");
  while (!pending_.empty() && !builder_.full()) {
    const Pending next = std::move(pending_.back());
    pending_.pop_back();
    path_ = next.path;
    TRY_DO(within(write_rule(rules_[next.schema], *next.schema), path_));
  }
  return main;
}

RuleId SchemaCompiler::rule_of(const Json& schema, std::string_view step) {
  if (const bool* all = schema.boolean()) return *all ? json_.value() : builder_.rule();  // an empty rule: nothing
  const auto [at, added] = rules_.try_emplace(&schema, 0);
  if (added) {
    at->second = builder_.rule();
    constexpr size_t max_path = 200;  // it is for messages
    pending_.push_back({&schema, str(path_, path_.empty() ? "" : "/", step).substr(0, max_path)});
  }
  return at->second;
}

Status SchemaCompiler::write_rule(RuleId rule, const Json& schema) {
  if (!schema.object()) return invalid("a schema must be an object or a boolean");
  const auto [start, end] = builder_[rule];
  TRY_DO(check_keywords(schema));
  if (const Json* nullable = schema.find("nullable"); nullable && nullable->boolean() && *nullable->boolean())
    builder_.text(start, end, "null");
  return write(start, end, schema);
}

Status SchemaCompiler::write(StateId from, StateId to, const Json& schema) {
  if (const Json* reference = schema.find("$ref")) {
    TRY_DO(stands_alone(schema, "$ref"));
    if (!reference->text()) return invalid("\"$ref\" must be a string");
    TRY(const Json* target, resolve(*reference->text()));
    builder_.call(from, to, rule_of(*target, *reference->text()));
    return {};
  }
  for (std::string_view keyword : {"anyOf", "oneOf", "allOf"})
    if (schema.find(keyword)) return write_any_of(from, to, schema, keyword);
  if (schema.find("enum") || schema.find("const")) return write_values(from, to, schema);
  TRY(auto types, types_of(schema));
  if (types.empty()) types.emplace_back(type_from_keywords(schema));
  for (const std::string& type : types) TRY_DO(write_type(from, to, schema, type));
  return {};
}

Status SchemaCompiler::write_any_of(StateId from, StateId to, const Json& schema, std::string_view keyword) {
  TRY_DO(stands_alone(schema, keyword));
  const auto* branches = schema.find(keyword)->array();
  if (!branches || branches->empty()) return invalid("\"", keyword, "\" must be a list of schemas");
  if (keyword == "allOf" && branches->size() > 1)
    return unsupported("\"allOf\" of ", branches->size(), " schemas can't be kept by a grammar; merge them into one");
  for (size_t i = 0; i < branches->size(); ++i) builder_.call(from, to, rule_of((*branches)[i], str(keyword, "/", i)));
  return {};
}

Status SchemaCompiler::write_values(StateId from, StateId to, const Json& schema) {
  const Json* constant = schema.find("const");
  const std::string_view keyword = constant ? "const" : "enum";
  for (const JsonMember& m : *schema.object())
    if (m.name != keyword && m.name != "type" && m.name != "nullable" && !is_annotation(m.name))
      return unsupported("\"", keyword, "\" together with \"", m.name, "\" can't be kept by a grammar; leave one out");
  TRY(const auto types, types_of(schema));
  const Json::Array single{constant ? *constant : Json()};
  const Json::Array* values = constant ? &single : schema.find("enum")->array();
  if (!values) return invalid("\"enum\" must be a list");
  std::vector<std::string> scalars;
  for (const Json& value : *values) {
    const auto fits = [&](const std::string& type) { return has_type(value, type); };
    if (!types.empty() && !std::ranges::any_of(types, fits)) continue;
    if (value.array() || value.object())
      json_.constant(from, to, value);
    else
      scalars.push_back(json_scalar(value));
  }
  builder_.any_of(from, to, scalars);
  return {};
}

Status SchemaCompiler::write_type(StateId from, StateId to, const Json& schema, std::string_view type) {
  if (type == "object") return write_object(from, to, schema);
  if (type == "array") return write_array(from, to, schema);
  if (type == "string") return write_string(from, to, schema);
  if (type == "integer") return write_integer(from, to, schema);
  if (type == "number") return write_number(from, to, schema);
  if (type == "boolean") {
    builder_.text(from, to, "true");
    builder_.text(from, to, "false");
  } else if (type == "null") {
    builder_.text(from, to, "null");
  } else {
    builder_.call(from, to, json_.value());
  }
  return {};
}

Result<std::optional<u32>> SchemaCompiler::count(const Json& schema, std::string_view keyword) const {
  const Json* value = schema.find(keyword);
  if (!value) return std::nullopt;
  const i64* n = value->integer();
  if (!n || *n < 0 || *n >= i64(Builder::unbounded))
    return invalid("\"", keyword, "\" must be an integer from 0 to ", Builder::unbounded - 1);
  return u32(*n);
}

const Json* SchemaCompiler::member(const Json& object, const std::string& name) {
  if (!object.object()) return nullptr;
  auto& known = members_[&object];
  if (known.empty())
    for (const JsonMember& m : *object.object()) known.emplace(m.name, &m.value);
  const auto found = known.find(name);
  return found != known.end() ? found->second : nullptr;
}

// A JSON pointer into this document: "#", "#/$defs/name".
Result<const Json*> SchemaCompiler::resolve(const std::string& reference) {
  const auto missing = [&] {
    return not_found("\"$ref\": \"", reference, "\" does not lead to a schema in this document");
  };
  if (!reference.starts_with('#')) return missing();
  const Json* at = &document_;
  std::string_view rest = std::string_view(reference).substr(1);
  while (!rest.empty()) {
    if (rest[0] != '/') return missing();
    rest.remove_prefix(1);
    std::string name(rest.substr(0, rest.find('/')));
    rest.remove_prefix(name.size());
    for (const auto& [code, character] : {std::pair{"~1", "/"}, std::pair{"~0", "~"}})
      for (size_t i = name.find(code); i != std::string::npos; i = name.find(code, i + 1))
        name.replace(i, 2, character);
    if (const auto* items = at->array()) {
      size_t index = 0;
      const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), index);
      if (code != std::errc() || end != name.data() + name.size() || index >= items->size()) return missing();
      at = &(*items)[index];
    } else {
      at = member(*at, name);
    }
    if (!at) return missing();
  }
  return at;
}

}  // namespace pteron::grammar

namespace pteron {
namespace {

grammar::RuleId write_series(grammar::Builder& builder, grammar::RuleId value, const JsonSeries& series) {
  const grammar::RuleId rule = builder.rule();
  const auto [start, end] = builder[rule];
  grammar::StateId at = start;
  for (u32 i = 0; i < series.most && !builder.full(); ++i) {
    const grammar::StateId written = builder.state(), ended = builder.state();
    builder.call(at, written, value);
    builder.jump(written, end);
    builder.text(written, ended, series.end);
    builder.jump(ended, end);
    at = builder.state();
    if (i + 1 < series.most) builder.text(ended, at, series.begin);
  }
  return rule;
}

Result<Grammar> json_grammar(const Json& schema, const JsonFormat& format, const JsonSeries& series) {
  grammar::Builder builder;
  grammar::JsonRules rules(builder, format);
  TRY(auto main, grammar::SchemaCompiler(rules, schema).compile());
  if (series.most > 1) main = write_series(builder, main, series);
  TRY(auto automaton, std::move(builder).build(main));
  return Grammar(std::make_shared<const grammar::Automaton>(std::move(automaton)));
}

}  // namespace

Result<Grammar> Grammar::json(const JsonFormat& format) { return json_grammar(Json(true), format, {}); }

Result<Grammar> Grammar::json_schema(std::string_view schema, const JsonFormat& format, const JsonSeries& series) {
  if (schema.size() > grammar::max_schema_bytes)
    return unsupported("the JSON schema has ", human_bytes(schema.size()), "; at most ",
                       human_bytes(grammar::max_schema_bytes), " are possible");
  TRY(const Json document, within(Json::parse(schema), "JSON schema"));
  return within(json_grammar(document, format, series), "JSON schema");
}

}  // namespace pteron
