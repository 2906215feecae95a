// SPDX-License-Identifier: BSD-3-Clause
// Regular expressions: the part that describes regular languages, in the syntax that Python and ECMAScript share.
#pragma once

#include "llm/grammar/character_writer.h"
#include "llm/regex/regex.h"

namespace pteron::grammar {

// An alternative at the top, where ^ and $ may stand.
struct RegexBranch {
  regex::Node body;  // of sets, sequences, alternations and repetitions
  bool from_start = false, to_end = false;
};

// Refuses what is not regular: look-around, word boundaries, atomic groups and possessive repetitions.
Result<std::vector<RegexBranch>> parse_regex(std::string_view pattern);

class RegexWriter {
 public:
  RegexWriter(Builder& builder, CharacterWriter& characters) : builder_(builder), characters_(characters) {}

  // The whole text matches.
  void match(StateId from, StateId to, const std::vector<RegexBranch>& branches);
  // A part of the text matches, at its ends where ^ and $ say so.
  void search(StateId from, StateId to, const std::vector<RegexBranch>& branches);

 private:
  void write(StateId from, StateId to, const regex::Node& node);
  void write_repeat(StateId from, StateId to, const regex::Node& node);
  StateId anything(StateId from);

  Builder& builder_;
  CharacterWriter& characters_;
};

}  // namespace pteron::grammar
