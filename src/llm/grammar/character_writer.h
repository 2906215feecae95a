// SPDX-License-Identifier: BSD-3-Clause
// How sets of characters are written in bytes.
#pragma once

#include "llm/grammar/automaton.h"
#include "llm/text/char_set.h"

#include <map>

namespace pteron::grammar {

// Adds one character of a set to a grammar: as UTF-8, or as it stands inside of a JSON string. There each character has
// one form: itself, or the shortest escape if it needs one. Surrogates are no characters.
class CharacterWriter {
 public:
  enum Form { plain, in_json_string };
  CharacterWriter(Builder& builder, Form form) : builder_(builder), form_(form) {}

  void write(StateId from, StateId to, const CharSet& set);
  // The same as a rule; equal sets share it.
  RuleId rule_of(const CharSet& set);

 private:
  void write_utf8(StateId from, StateId to, const CharSet& set);
  void write_escapes(StateId from, StateId to, const CharSet& set);

  Builder& builder_;
  Form form_;
  std::map<std::vector<std::pair<u32, u32>>, RuleId> rules_;
};

}  // namespace pteron::grammar
