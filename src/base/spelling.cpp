// SPDX-License-Identifier: BSD-3-Clause
#include "base/spelling.h"

namespace pteron {

std::string snake_case(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z')
      out += {'_', char(c - 'A' + 'a')};
    else
      out += c == '-' ? '_' : c;
  }
  return out;
}

}  // namespace pteron
