// SPDX-License-Identifier: BSD-3-Clause
// Parts of a tensor along one axis.
#include "ops/move.h"

#include <algorithm>

namespace pteron::ops {
namespace {

// y = x[…, start + step · i, …] for as many i as y, which has been resized, has along `axis`.
Walk walk_of_part(const TensorArg& x, const TensorArg& y, u32 axis, u32 start, u32 step) {
  const auto strides = strides_of(x.shape());
  Walk walk;
  for (u32 i = 0; i < x.rank(); ++i) walk.add_axis(y.shape()[i], strides[i] * (i == axis ? step : 1));
  walk.base = start * strides[axis];
  return walk;
}

// y = x at one index of an axis, which goes.
Walk walk_at(const TensorArg& x, u32 axis, u32 index) {
  const auto strides = strides_of(x.shape());
  Walk walk;
  for (u32 i = 0; i < x.rank(); ++i)
    if (i != axis) walk.add_axis(x.shape()[i], strides[i]);
  walk.base = index * strides[axis];
  return walk;
}

// Moves every result of the list at argument `list`, which have been resized, as `walk_of(i, y)` says. Few decide how
// on their own.
template <class WalkOf>
Status move_each(Plan& op, const TensorArg& x, u32 list, WalkOf walk_of) {
  constexpr u32 few = 4;
  const u32 count = op.list_size(list);
  bool fixed = true, in_quads = true;
  for (u32 i = 0; i < count; ++i) {
    const TensorArg y = op.list_output(list, i);
    fixed &= op.shape_is_fixed(y);
    const Walk walk = walk_of(i, y);
    if (y.numel() > 0) in_quads &= moves_quads(walk);
  }
  const bool together = count > few && !fixed;
  if (together) in_quads = op.branch(in_quads);
  for (u32 i = 0; i < count; ++i) {
    const TensorArg y = op.list_output(list, i);
    const Walk walk = walk_of(i, y);
    TRY_DO(together ? move(op, x, y, walk, in_quads) : move(op, x, y, walk));
  }
  return {};
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
  return move(op, x, y, walk_of_part(x, y, axis, u32(start), u32(step)));
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
    start += shape[axis];
  }
  REQUIRE_LIVE(op, start == size, "the parts have ", start, " in axis ", axis, ", but the input is ", x.shape());
  // They are asked for in their order, twice.
  return move_each(op, x, 3, [&](u32 i, const TensorArg& y) {
    if (i == 0) start = 0;
    const Walk walk = walk_of_part(x, y, axis, start, 1);
    start += y.shape()[axis];
    return walk;
  });
}

// split_copy(x, size, axis, [out…]): parts of one size; the last one is what is left.
Status split_equally(Plan& op) {
  const TensorArg x = op.tensor(0);
  REQUIRE(op, x.rank() >= 1, "a scalar can't be split");
  const i64 part = op.integer(1);
  const u32 axis = op.axis(2, x.rank()), count = op.list_size(3);
  const i64 size = x.shape()[axis];
  REQUIRE_LIVE(op, part >= 1 || (part == 0 && size == 0), "parts of size ", part, " can't make axis ", axis, " of ",
               x.shape());
  REQUIRE_LIVE(op, part == 0 || std::max<i64>(size / part + (size % part != 0), 1) == i64(count), "axis ", axis, " of ",
               x.shape(), " in parts of ", part, " does not make ", count, " results");
  const auto start_of = [&](u32 i) { return std::clamp<i64>(i * std::min(part, size), 0, size); };
  for (u32 i = 0; i < count; ++i) {
    Shape shape = x.shape();
    shape[axis] = u32(std::clamp<i64>(part, 0, size - start_of(i)));
    TRY_DO(op.resize(op.list_output(3, i), shape));
  }
  return move_each(op, x, 3, [&](u32 i, const TensorArg& y) { return walk_of_part(x, y, axis, u32(start_of(i)), 1); });
}

Shape without(const Shape& shape, u32 axis) {
  Shape out;
  for (u32 i = 0; i < shape.rank(); ++i)
    if (i != axis) out.push_back(shape[i]);
  return out;
}

// unbind_copy(x, axis, [out…])
Status unbind(Plan& op) {
  const TensorArg x = op.tensor(0);
  REQUIRE(op, x.rank() >= 1, "a scalar has no elements to unbind");
  const u32 axis = op.axis(1, x.rank()), count = op.list_size(2);
  REQUIRE_LIVE(op, x.dim(i32(axis)) == count, "axis ", axis, " of ", x.shape(), " does not make ", count, " results");
  for (u32 i = 0; i < count; ++i) TRY_DO(op.resize(op.list_output(2, i), without(x.shape(), axis)));
  return move_each(op, x, 2, [&](u32 i, const TensorArg&) { return walk_at(x, axis, i); });
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
  TRY_DO(op.resize(y, without(x.shape(), axis)));
  return move(op, x, y, walk_at(x, axis, u32(index)));
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.slice_copy.Tensor", slice, "x, axis: int = 0, start: int = 0, end: int?, step: int = 1 -> out"_sig},
    {"aten.split_with_sizes_copy.default", split, "x, sizes: ints, axis: int = 0 -> [...]"_sig},
    {"aten.split_copy.Tensor", split_equally, "x, size: int, axis: int = 0 -> [...]"_sig},
    {"aten.unbind_copy.int", unbind, "x, axis: int = 0 -> [...]"_sig},
    {"aten.select_copy.int", select, "x, axis: int, index: int -> out"_sig},
};
extern const OpList slice_ops = entries;

}  // namespace pteron::ops
