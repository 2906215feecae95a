// SPDX-License-Identifier: BSD-3-Clause
#include "llm/text/python_float.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace pteron {

std::string python_float(f64 value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, size_t(end - buffer));  // -d.ddde±XX
  const size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), end, exponent);
  std::string sign = text[0] == '-' ? "-" : "";
  std::string digits(1, text[sign.size()]);
  if (e > sign.size() + 2) digits += text.substr(sign.size() + 2, e - sign.size() - 2);

  // Python's repr leaves the plain form where the point would stand more than 16 digits to the right or 4 to the left.
  if (exponent >= 16 || exponent < -4) {
    std::string out = sign + digits[0];
    if (digits.size() > 1) (out += '.') += digits.substr(1);
    return out += text.substr(e);
  }
  if (exponent < 0) return sign + "0." + std::string(size_t(-exponent - 1), '0') + digits;
  const size_t whole = size_t(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + '.' + digits.substr(whole);
}

}  // namespace pteron
