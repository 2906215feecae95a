// SPDX-License-Identifier: BSD-3-Clause
// Copies elements to where a strided walk over the source puts them.
#pragma once

#include "ops/common.h"

namespace pteron::ops {

// A walk over a source: up to 16 axes, outermost first.
class Walk {
 public:
  static constexpr u32 max_axes = 16;

  // The row-major walk over all of a tensor.
  static Walk over(const Shape& shape);

  void add_axis(u32 size, i64 stride) {
    if (rank < max_axes) sizes[rank] = size, strides[rank] = stride, ++rank;
  }
  // Drops axes of size 1 and merges neighbours that are one longer axis.
  void simplify();

  u32 rank = 0;
  std::array<u32, max_axes> sizes{};
  std::array<i64, max_axes> strides{};
  i64 base = 0;
};

// Row-major strides of a shape.
std::array<i64, Shape::max_rank> strides_of(const Shape& shape);

// y's elements, in order, are those that the walk meets in x. `y` has been resized.
Status move(Plan& op, const TensorArg& x, const TensorArg& y, Walk walk);

}  // namespace pteron::ops
