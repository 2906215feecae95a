// SPDX-License-Identifier: BSD-3-Clause
// The literals of templates, with Python's rules.
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <string>
#include <string_view>

namespace pteron::jinja {

// What stands between the quotes, with its escapes replaced.
Result<std::string> unescape(std::string_view text);

struct NumberLiteral {
  std::string digits;  // without underscores; with 0x, 0o or 0b if there was one
  size_t length = 0;   // in the source
  bool is_real = false;
};
// The number that `text` starts with (it starts with a digit).
NumberLiteral number_literal(std::string_view text, bool integers_only);

}  // namespace pteron::jinja
