// SPDX-License-Identifier: BSD-3-Clause
// Cuts a template into text and the words inside of {{ }} and {% %}, with Jinja's rules for white space (trim_blocks
// and lstrip_blocks on).
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace pteron::jinja {

struct Token {
  enum Kind { data, output_begin, output_end, block_begin, block_end, name, text, integer, real, symbol, end };
  Kind kind = end;
  std::string value;  // a text without its quotes and escapes
  u32 line = 1;

  bool is(Kind k, std::string_view v) const { return kind == k && value == v; }
};

Result<std::vector<Token>> tokenize(std::string_view source);

// "line 3: ", in front of every message about a template.
std::string at_line(u32 line);

}  // namespace pteron::jinja
