// SPDX-License-Identifier: BSD-3-Clause
// Elements of a tensor that indices name.
#pragma once

#include "ops/move.h"

namespace pteron::ops {

// How an op reads its indices.
struct Rules {
  std::string_view what = "index";  // in messages
  bool negative = false;            // counts from the end
};

// A space of elements, outermost axis first: what a step along each axis means in a tensor, where an indexed axis does
// not count, in the indices and in a third tensor.
struct Layout {
  u32 rank = 0;
  std::array<u32, Shape::max_rank> sizes{}, x_strides{}, index_strides{}, source_strides{};

  void add_axis(u32 size, u32 x_stride, u32 index_stride, u32 source_stride = 0) {
    sizes[rank] = size, x_strides[rank] = x_stride, index_strides[rank] = index_stride;
    source_strides[rank] = source_stride;
    ++rank;
  }
  Shape shape() const {
    Shape out;
    for (u32 i = 0; i < rank; ++i) out.push_back(sizes[i]);
    return out;
  }
};

// y[c] = x[… + offsets[c]] for places in x that a kernel has checked.
Status take_at(Plan& op, const TensorArg& x, const Operand& offsets, const TensorArg& y, const Layout& layout);

// y = x[…, index, …]: the indices' axes take the place of one axis of x.
Status take_slices(Plan& op, const TensorArg& x, u32 axis, const TensorArg& index, const TensorArg& y,
                   Rules rules = {});

}  // namespace pteron::ops
