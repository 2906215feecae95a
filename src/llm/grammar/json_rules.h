// SPDX-License-Identifier: BSD-3-Clause
// The parts that JSON grammars are made of. Rules are added when they are first asked for.
#pragma once

#include "llm/grammar/character_writer.h"
#include "llm/json/json.h"

#include <pteron/grammar.h>

#include <optional>

namespace pteron::grammar {

class JsonRules {
 public:
  JsonRules(Builder& builder, const JsonFormat& format)
      : builder_(builder), characters_(builder, CharacterWriter::in_json_string), format_(format) {}

  RuleId value();    // anything
  RuleId integer();  // of any size
  RuleId number();
  RuleId character();  // inside of a string, in any of its forms

  void space(StateId from, StateId to);
  // As space, text, space.
  void separator(StateId from, StateId to, std::string_view text);
  void string(StateId from, StateId to, u32 min_length = 0, u32 max_length = Builder::unbounded);
  // A string that is none of `names`, written without needless escapes.
  void string_except(StateId from, StateId to, std::span<const std::string> names);
  void constant(StateId from, StateId to, const Json& value);

  Builder& builder() { return builder_; }
  CharacterWriter& characters() { return characters_; }

 private:
  void any_object(StateId from, StateId to);
  void any_array(StateId from, StateId to);
  void escape(StateId from, StateId to);

  Builder& builder_;
  CharacterWriter characters_;
  JsonFormat format_;
  std::optional<RuleId> value_, integer_, number_, character_, space_;
};

}  // namespace pteron::grammar
