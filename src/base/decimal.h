// SPDX-License-Identifier: BSD-3-Clause
// Decimal digits of numbers, with the C library: the tables of std::to_chars would be a tenth of the browser's module.
#pragma once

#include <pteron/types.h>

#include <string>

namespace pteron {

// d.ddd × 10^exponent
struct Decimal {
  std::string digits;
  int exponent = 0;
};

// The fewest digits that read back as the same number; of a finite number, without its sign.
Decimal shortest_decimal(f64 value);

// The end of a number in scientific form: e+05, e-123.
std::string power_of_ten(int exponent);

// Rounds what the number stands for exactly to so many places behind the point. Unchanged if there are too many.
f64 round_to_places(f64 value, int places);

}  // namespace pteron
