// SPDX-License-Identifier: BSD-3-Clause
#include "base/decimal.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace pteron {

// The C library writes and reads the point of the process's locale, so what it wrote is read by it, or by its digits.
Decimal shortest_decimal(f64 value) {
  value = std::abs(value);
  char buffer[40];
  // Fifteen digits survive the way through a normal number, so fewer would be those without the zeros behind.
  int places = value < std::numeric_limits<f64>::min() ? 0 : 14;
  do std::snprintf(buffer, sizeof buffer, "%.*e", places, value);
  while (places++ < 16 && std::strtod(buffer, nullptr) != value);

  Decimal out;
  const char* at = buffer;
  for (; *at != 'e'; ++at)
    if (*at >= '0' && *at <= '9') out.digits += *at;
  out.exponent = int(std::strtol(at + 1, nullptr, 10));
  while (out.digits.size() > 1 && out.digits.back() == '0') out.digits.pop_back();
  return out;
}

std::string power_of_ten(int exponent) {
  const std::string power = std::to_string(std::abs(exponent));
  return (exponent < 0 ? "e-" : "e+") + std::string(power.size() < 2, '0') + power;
}

f64 round_to_places(f64 value, int places) {
  char buffer[400];
  const int length = std::snprintf(buffer, sizeof buffer, "%.*f", places, value);
  return length > 0 && size_t(length) < sizeof buffer ? std::strtod(buffer, nullptr) : value;
}

}  // namespace pteron
