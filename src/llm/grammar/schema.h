// SPDX-License-Identifier: BSD-3-Clause
// JSON Schema as a grammar. Each schema of the document becomes a rule, so that references may be recursive.
#pragma once

#include "llm/grammar/json_rules.h"

#include <unordered_map>

namespace pteron::grammar {

class SchemaCompiler {
 public:
  SchemaCompiler(JsonRules& json, const Json& document) : json_(json), builder_(json.builder()), document_(document) {}

  Result<RuleId> compile();

 private:
  struct Members;
  struct Pending {
    const Json* schema;
    std::string path;
  };

  // The rule of a schema that stands at `step` in the current one. It is written later.
  RuleId rule_of(const Json& schema, std::string_view step);
  Status write_rule(RuleId rule, const Json& schema);
  Status write(StateId from, StateId to, const Json& schema);
  Status write_type(StateId from, StateId to, const Json& schema, std::string_view type);
  Status write_any_of(StateId from, StateId to, const Json& schema, std::string_view keyword);
  Status write_values(StateId from, StateId to, const Json& schema);
  Status write_string(StateId from, StateId to, const Json& schema);
  Status write_integer(StateId from, StateId to, const Json& schema);
  Status write_number(StateId from, StateId to, const Json& schema);
  Status write_array(StateId from, StateId to, const Json& schema);
  Status write_object(StateId from, StateId to, const Json& schema);
  Result<Members> members_of(const Json& schema);

  Status check_keywords(const Json& schema) const;
  // Refuses members beside `keyword` that would have to hold as well.
  Status stands_alone(const Json& schema, std::string_view keyword) const;
  Result<const Json*> resolve(const std::string& reference);
  const Json* member(const Json& object, const std::string& name);
  Result<std::optional<u32>> count(const Json& schema, std::string_view keyword) const;
  // An integer's bound, made inclusive. `direction` is 1 for a lower and -1 for an upper bound.
  Result<std::optional<i64>> bound(const Json& schema, std::string_view inclusive, std::string_view exclusive,
                                   int direction) const;

  JsonRules& json_;
  Builder& builder_;
  const Json& document_;
  std::unordered_map<const Json*, RuleId> rules_;
  std::vector<Pending> pending_;
  // Members by name of the objects that references lead through.
  std::unordered_map<const Json*, std::unordered_map<std::string_view, const Json*>> members_;
  std::string path_;
};

// Integers from `low` to `high`, without superfluous zeros; no bound where there is none.
void write_integers(Builder& builder, StateId from, StateId to, std::optional<i64> low, std::optional<i64> high);

// The regular expression of a string format, or nothing if it is not known.
std::optional<std::string> format_pattern(std::string_view format);

}  // namespace pteron::grammar
