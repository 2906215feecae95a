// SPDX-License-Identifier: BSD-3-Clause
// Parts of a tensor along one axis.
#include "ops/move.h"

#include <algorithm>

namespace pteron::ops {
namespace {

// y = x[…, start + step · i, …] for as many i as y, which has been resized, has along `axis`.
Status take_part(Plan& op, const TensorArg& x, const TensorArg& y, u32 axis, u32 start, u32 step) {
  const auto strides = strides_of(x.shape());
  Walk walk;
  for (u32 i = 0; i < x.rank(); ++i) walk.add_axis(y.shape()[i], strides[i] * (i == axis ? step : 1));
  walk.base = start * strides[axis];
  return move(op, x, y, walk);
}

// slice_copy(x, axis, start?, end?, step, out)
Status slice(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  REQUIRE(op, x.rank() >= 1, "a scalar can't be sliced");
  const u32 axis = op.axis(1, x.rank());
  const i64 size = x.shape().dim(i32(axis));
  const auto bound = [&](i64 at) { return std::clamp<i64>(at < 0 ? at + size : at, 0, size); };
  const i64 start = bound(op.integer(2)), end = std::max(start, bound(op.integer_or(3, size))), step = op.integer(4);
  REQUIRE(op, step >= 1, "the step is ", step, "; it must be at least 1");
  Shape shape = x.shape();
  shape[axis] = u32((end - start) / step + ((end - start) % step != 0));
  TRY_DO(op.resize(y, shape));
  return take_part(op, x, y, axis, u32(start), u32(step));
}

// split_with_sizes_copy(x, sizes, axis, [out…])
Status split(Plan& op) {
  const TensorArg x = op.tensor(0);
  REQUIRE(op, x.rank() >= 1, "a scalar can't be split");
  const IntList sizes = op.ints(1);
  const u32 axis = op.axis(2, x.rank()), count = op.list_size(3);
  REQUIRE(op, count == sizes.size(), sizes.size(), " sizes are given for ", count, " results");
  const u32 size = x.shape()[axis];
  u32 start = 0;
  for (u32 i = 0; i < count; ++i) {
    const TensorArg y = op.list_output(3, i);
    REQUIRE_LIVE(op, sizes[i] >= 0 && sizes[i] <= size - start, "part ", i, " has size ", sizes[i], ", but ",
                 size - start, " are left in axis ", axis, " of ", x.shape());
    Shape shape = x.shape();
    shape[axis] = u32(std::clamp<i64>(sizes[i], 0, size - start));
    TRY_DO(op.resize(y, shape));
    TRY_DO(take_part(op, x, y, axis, start, 1));
    start += shape[axis];
  }
  REQUIRE_LIVE(op, start == size, "the parts have ", start, " in axis ", axis, ", but the input is ", x.shape());
  return {};
}

// select_copy(x, axis, index, out)
Status select(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  REQUIRE(op, x.rank() >= 1, "a scalar has no element to select");
  const u32 axis = op.axis(1, x.rank());
  const i64 size = x.shape().dim(i32(axis));
  i64 index = op.integer(2);
  REQUIRE_LIVE(op, index >= -size && index < size, "index ", index, " is out of range for axis ", axis, " of ",
               x.shape());
  if (index < 0) index += size;
  const auto strides = strides_of(x.shape());
  Shape shape;
  Walk walk;
  for (u32 i = 0; i < x.rank(); ++i) {
    if (i == axis) continue;
    shape.push_back(x.shape()[i]);
    walk.add_axis(x.shape()[i], strides[i]);
  }
  walk.base = u32(index) * strides[axis];
  TRY_DO(op.resize(y, shape));
  return move(op, x, y, walk);
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.slice_copy.Tensor", slice, "x, axis: int = 0, start: int = 0, end: int?, step: int = 1 -> out"_sig},
    {"aten.split_with_sizes_copy.default", split, "x, sizes: ints, axis: int = 0 -> [...]"_sig},
    {"aten.select_copy.int", select, "x, axis: int, index: int -> out"_sig},
};
extern const OpList slice_ops = entries;

}  // namespace pteron::ops
