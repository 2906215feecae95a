// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/types.h>

#include <cmath>
#include <span>

namespace pteron::test {

// Of the differences to the numbers, both as root mean squares.
inline f64 relative_error(std::span<const f32> actual, std::span<const f32> expected) {
  f64 error = 0, size = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    error += std::pow(f64(actual[i]) - f64(expected[i]), 2);
    size += std::pow(f64(expected[i]), 2);
  }
  return std::sqrt(error / size);
}

}  // namespace pteron::test
