// SPDX-License-Identifier: BSD-3-Clause
// The tree of a regular expression.
#pragma once

#include "llm/text/char_set.h"

#include <pteron/result.h>

#include <vector>

namespace pteron::llm::syntax {

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
};

bool can_be_empty(const Node& node);

// An error names the expression and what in it is not understood.
Result<Node> parse(std::string_view expression);

}  // namespace pteron::llm::syntax
