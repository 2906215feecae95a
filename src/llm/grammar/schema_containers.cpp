// SPDX-License-Identifier: BSD-3-Clause
// Arrays and objects of a schema.
#include "base/error.h"
#include "llm/grammar/schema.h"

#include <algorithm>

namespace pteron::grammar {

Status SchemaCompiler::write_array(StateId from, StateId to, const Json& schema) {
  TRY(const auto least, count(schema, "minItems"));
  TRY(const auto most, count(schema, "maxItems"));
  const u32 minimum = least.value_or(0), maximum = most.value_or(Builder::unbounded);
  std::vector<RuleId> first;
  if (const Json* prefix = schema.find("prefixItems")) {
    if (!prefix->array()) return invalid("\"prefixItems\" must be a list of schemas");
    for (const Json& item : *prefix->array()) first.push_back(rule_of(item, str("prefixItems/", first.size())));
  }
  std::optional<RuleId> rest;
  if (const Json* items = schema.find("items")) {
    if (items->array()) return unsupported("the keyword \"items\" must be one schema; use \"prefixItems\" for a list");
    rest = rule_of(*items, "items");
  } else if (first.empty()) {
    rest = json_.value();
  }

  StateId open = builder_.state(), at = builder_.state();
  builder_.text(from, open, "[");
  json_.space(open, at);
  if (minimum == 0) builder_.text(at, to, "]");
  for (u32 i = 0; i < maximum && (i < first.size() || rest) && !builder_.full(); ++i) {
    const StateId behind = builder_.state(), next = builder_.state(), comma = builder_.state();
    builder_.call(at, behind, i < first.size() ? first[i] : *rest);
    json_.space(behind, next);
    if (i + 1 >= minimum) builder_.text(next, to, "]");
    builder_.text(next, comma, ",");
    // The rest of an unbounded array is a loop; not onto the first item, where the array may also end.
    if (i > 0 && i >= first.size() && i + 1 >= minimum && maximum == Builder::unbounded) {
      json_.space(comma, at);
      break;
    }
    at = builder_.state();
    json_.space(comma, at);
  }
  return {};
}

// What an object may hold, in order.
struct SchemaCompiler::Members {
  struct Member {
    std::string name;
    RuleId value = 0;
    bool required = false;
  };
  std::vector<Member> named;
  std::optional<RuleId> others;  // members of any other name
};

Result<SchemaCompiler::Members> SchemaCompiler::members_of(const Json& schema) {
  Members members;
  const Json *properties = schema.find("properties"), *additional = schema.find("additionalProperties"),
             *required = schema.find("required");
  if (properties && !properties->object()) return invalid("\"properties\" must be an object of schemas");
  if (required && !required->array()) return invalid("\"required\" must be a list of names");
  const bool closed = additional && additional->boolean() && !*additional->boolean();
  if (additional && !closed) members.others = rule_of(*additional, "additionalProperties");
  if (!additional && !properties) members.others = json_.value();
  if (properties)
    for (const JsonMember& m : *properties->object())
      members.named.push_back({m.name, rule_of(m.value, str("properties/", m.name))});
  if (!required) return members;
  std::unordered_map<std::string_view, size_t> places;
  for (size_t i = 0; i < members.named.size(); ++i) places.emplace(members.named[i].name, i);
  for (const Json& name : *required->array()) {
    if (!name.text()) return invalid("\"required\" must be a list of names");
    const auto [at, added] = places.try_emplace(*name.text(), members.named.size());
    if (added) members.named.push_back({*name.text(), additional ? rule_of(*additional, "") : json_.value()});
    members.named[at->second].required = true;
  }
  return members;
}

Status SchemaCompiler::write_object(StateId from, StateId to, const Json& schema) {
  TRY(const Members members, members_of(schema));
  const StateId open = builder_.state();
  // Where the next member comes: `fresh` if it would be the object's first, `going` behind another one's value.
  StateId fresh = builder_.state(), going = builder_.state();
  builder_.text(from, open, "{");
  json_.space(open, fresh);
  const auto behind_comma = [&](StateId target) {
    const StateId comma = builder_.state();
    builder_.text(going, comma, ",");
    json_.space(comma, target);
  };
  const auto value = [&](StateId colon, RuleId rule, StateId next) {
    const StateId before = builder_.state(), behind = builder_.state();
    json_.separator(colon, before, ":");
    builder_.call(before, behind, rule);
    json_.space(behind, next);
  };
  for (const auto& member : members.named) {
    const StateId name = builder_.state(), colon = builder_.state(), next_fresh = builder_.state(),
                  next_going = builder_.state();
    builder_.jump(fresh, name);
    behind_comma(name);
    builder_.text(name, colon, json_quoted(member.name));
    value(colon, member.value, next_going);
    if (!member.required) {
      builder_.jump(fresh, next_fresh);
      builder_.jump(going, next_going);
    }
    fresh = next_fresh;
    going = next_going;
  }
  if (members.others) {
    std::vector<std::string> names;
    names.reserve(members.named.size());
    for (const auto& member : members.named) names.push_back(member.name);
    const StateId name = builder_.state(), colon = builder_.state();
    builder_.jump(fresh, name);
    behind_comma(name);
    if (names.empty())
      json_.string(name, colon);
    else
      json_.string_except(name, colon, names);
    value(colon, *members.others, going);
  }
  builder_.text(fresh, to, "}");
  builder_.text(going, to, "}");
  return {};
}

}  // namespace pteron::grammar
