// SPDX-License-Identifier: BSD-3-Clause
// Regular expressions: the part that describes regular languages, in the syntax that Python and ECMAScript share.
#pragma once

#include "llm/grammar/character_writer.h"

namespace pteron::grammar {

struct Regex {
  enum Kind { set, sequence, choice, repeat } kind = sequence;
  CharSet characters;            // set
  std::vector<Regex> parts;      // sequence, choice; the one of repeat
  u32 minimum = 0, maximum = 0;  // repeat; Builder::unbounded
};

// An alternative at the top, where ^ and $ may stand.
struct RegexBranch {
  Regex body;
  bool from_start = false, to_end = false;
};

Result<std::vector<RegexBranch>> parse_regex(std::string_view pattern);

class RegexWriter {
 public:
  RegexWriter(Builder& builder, CharacterWriter& characters) : builder_(builder), characters_(characters) {}

  // The whole text matches.
  void match(StateId from, StateId to, const std::vector<RegexBranch>& branches);
  // A part of the text matches, at its ends where ^ and $ say so.
  void search(StateId from, StateId to, const std::vector<RegexBranch>& branches);

 private:
  void write(StateId from, StateId to, const Regex& regex);
  void write_repeat(StateId from, StateId to, const Regex& regex);
  StateId anything(StateId from);

  Builder& builder_;
  CharacterWriter& characters_;
};

}  // namespace pteron::grammar
