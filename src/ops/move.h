// SPDX-License-Identifier: BSD-3-Clause
// Copies elements to where a strided walk over the source puts them.
#pragma once

#include "ops/common.h"

namespace pteron::ops {

// A walk over a source: up to 16 axes, outermost first. Strides and offsets count modulo 2³², so that a stride can be
// negative.
struct Walk {
  static constexpr u32 max_axes = 16;

  u32 rank = 0;
  std::array<u32, max_axes> sizes{}, strides{};
  u32 base = 0;

  void add_axis(u32 size, u32 stride) {
    if (rank < max_axes) sizes[rank] = size, strides[rank] = stride, ++rank;
  }
};

// Row-major strides of a shape.
std::array<u32, Shape::max_rank> strides_of(const Shape& shape);

// y's elements, in order, are those that the walk meets in x. `y` has been resized.
Status move(Plan& op, const TensorArg& x, const TensorArg& y, const Walk& walk);

// The same in two steps, for ops with many results: each decision of its own would double the plans that are visited at
// load.
bool moves_quads(const Walk& walk);
Status move(Plan& op, const TensorArg& x, const TensorArg& y, const Walk& walk, bool in_quads);

}  // namespace pteron::ops
