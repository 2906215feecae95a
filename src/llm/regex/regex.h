// SPDX-License-Identifier: BSD-3-Clause
// Reading regular expressions: the one parser behind the tokenizer's patterns and the grammars.
//
//   TRY(const regex::Node root, regex::parse("a|[^b-d]{2,5}", regex::Dialect::python));
//
// What a node means is up to who walks the tree: tokenizer/pattern.h runs it on text with backing off, grammar/regex.h
// makes an automaton of what is regular in it.
#pragma once

#include "base/error.h"
#include "llm/text/char_set.h"

#include <vector>

namespace pteron::regex {

enum class Dialect : u8 {
  oniguruma,  // of tokenizers: [a[bc]&&d] has classes in a class, \w knows marks
  python,     // and ECMAScript, as far as they agree: \d \w \s as Python has them
};

enum class Greed : u8 { greedy, lazy, possessive };

struct Node {
  enum Kind : u8 { set, sequence, alternation, repeat, look_ahead, atomic, line_start, line_end, word_boundary };
  static constexpr u32 unlimited = UINT32_MAX;

  Kind kind = sequence;
  Greed greed = Greed::greedy;  // repeat
  bool negated = false;         // look_ahead, word_boundary
  u32 min = 1, max = 1;         // repeat
  CharSet chars;                // set
  std::vector<Node> children;
  u32 at = 0;  // the byte of the expression where it starts
};

// An error names the expression and the place: invalid if it is no regular expression, else unsupported.
Result<Node> parse(std::string_view expression, Dialect dialect);

// The error for a node that whoever walks the tree can't express.
Failure refuse(std::string_view expression, size_t at, std::string_view what);

}  // namespace pteron::regex
