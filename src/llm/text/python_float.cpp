// SPDX-License-Identifier: BSD-3-Clause
#include "llm/text/python_float.h"

#include "base/decimal.h"

#include <cmath>

namespace pteron {

std::string python_float(f64 value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const auto [digits, exponent] = shortest_decimal(value);
  const std::string sign = std::signbit(value) ? "-" : "";

  // Python's repr leaves the plain form where the point would stand more than 16 digits to the right or 4 to the left.
  if (exponent >= 16 || exponent < -4) {
    std::string out = sign + digits[0];
    if (digits.size() > 1) (out += '.') += digits.substr(1);
    return out += power_of_ten(exponent);
  }
  if (exponent < 0) return sign + "0." + std::string(size_t(-exponent - 1), '0') + digits;
  const size_t whole = size_t(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + '.' + digits.substr(whole);
}

}  // namespace pteron
