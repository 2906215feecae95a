// SPDX-License-Identifier: BSD-3-Clause
// The same elements in another order.
#include "ops/move.h"

namespace pteron::ops {
namespace {

// Axis i of the result is axis `axis_at(i)` of x.
template <class AxisAt>
Status reorder(Plan& op, const TensorArg& x, AxisAt axis_at) {
  const TensorArg y = op.last_output();
  const auto strides = strides_of(x.shape());
  Shape shape;
  Walk walk;
  for (u32 i = 0; i < x.rank(); ++i) {
    const u32 axis = axis_at(i);
    shape.push_back(x.shape()[axis]);
    walk.add_axis(x.shape()[axis], strides[axis]);
  }
  TRY_DO(op.resize(y, shape));
  return move(op, x, y, walk);
}

// permute_copy(x, axes, out)
Status permute(Plan& op) {
  const TensorArg x = op.tensor(0);
  const IntList axes = op.ints(1);
  REQUIRE(op, axes.size() == x.rank(), axes.size(), " axes are given for rank ", x.rank());
  u32 seen = 0;
  for (u32 i = 0; i < axes.size(); ++i) seen |= 1u << op.normalize_axis(axes[i], x.rank());
  REQUIRE(op, seen == (1u << axes.size()) - 1, "the axes are not a permutation");
  return reorder(op, x, [&](u32 i) { return op.normalize_axis(axes[i], x.rank()); });
}

// t_copy(x, out)
Status transpose(Plan& op) {
  const TensorArg x = op.tensor(0);
  REQUIRE(op, x.rank() <= 2, "a tensor of rank ", x.rank(), " can't be transposed; at most 2 is possible");
  return reorder(op, x, [&](u32 i) { return x.rank() - 1 - i; });
}

// transpose_copy(x, axis, other axis, out)
Status swap_axes(Plan& op) {
  const TensorArg x = op.tensor(0);
  const u32 first = op.axis(1, x.rank()), second = op.axis(2, x.rank());
  return reorder(op, x, [&](u32 i) { return i == first ? second : i == second ? first : i; });
}

// diagonal_copy(x, offset, axis, other axis, out): the elements with `offset` more in the other axis are a last axis.
Status diagonal(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  REQUIRE(op, x.rank() >= 2, "a tensor of shape ", x.shape(), " has no diagonal");
  const i64 offset = op.integer(1);
  const u32 first = op.axis(2, x.rank()), second = op.axis(3, x.rank());
  REQUIRE(op, first != second, "a diagonal needs two axes, but both are axis ", first);
  const i64 rows = x.shape()[first], columns = x.shape()[second];
  const i64 below = std::clamp<i64>(offset < 0 ? -std::max<i64>(offset, -INT64_MAX) : 0, 0, rows);
  const i64 above = std::clamp<i64>(offset, 0, columns);
  const auto strides = strides_of(x.shape());
  Shape shape;
  Walk walk;
  for (u32 i = 0; i < x.rank(); ++i) {
    if (i == first || i == second) continue;
    shape.push_back(x.shape()[i]);
    walk.add_axis(x.shape()[i], strides[i]);
  }
  const u32 length = u32(std::min(rows - below, columns - above));
  shape.push_back(length);
  walk.add_axis(length, strides[first] + strides[second]);
  walk.base = u32(below) * strides[first] + u32(above) * strides[second];
  TRY_DO(op.resize(y, shape));
  return move(op, x, y, walk);
}

// as_strided_copy(x, sizes, strides, offset?, out): any walk over x's memory.
Status as_strided(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const IntList sizes = op.ints(1), strides = op.ints(2);
  REQUIRE(op, sizes.size() == strides.size() && sizes.size() <= Shape::max_rank, sizes.size(), " sizes and ",
          strides.size(), " strides don't make a tensor of at most ", Shape::max_rank, " axes");
  const i64 offset = op.integer(3);
  REQUIRE_LIVE(op, offset >= 0 && offset <= INT32_MAX, "the offset ", offset, " is out of range");
  Shape shape;
  Walk walk;
  walk.base = u32(offset);
  i64 last = offset;
  bool empty = false;
  for (u32 i = 0; i < sizes.size(); ++i) {
    REQUIRE_LIVE(op, sizes[i] >= 0 && sizes[i] <= INT32_MAX && strides[i] >= 0 && strides[i] <= INT32_MAX, "axis ", i,
                 " can't have size ", sizes[i], " and stride ", strides[i]);
    shape.push_back(u32(sizes[i]));
    walk.add_axis(u32(sizes[i]), u32(strides[i]));
    last = saturating_add(last, std::max<i64>(sizes[i] - 1, 0) * strides[i]);
    empty |= sizes[i] == 0;
  }
  REQUIRE_LIVE(op, empty || last < i64(x.numel()), "element ", last, " is asked for, but ", x.shape(), " has ",
               x.numel());
  TRY_DO(op.resize(y, shape));
  return move(op, x, y, walk);
}

// flip(x, axes, out)
Status flip(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const IntList axes = op.ints(1);
  u32 flipped = 0;
  for (u32 i = 0; i < axes.size(); ++i) {
    const u32 axis = op.normalize_axis(axes[i], x.rank());
    REQUIRE(op, (flipped >> axis & 1) == 0, "axis ", axis, " is flipped twice");
    flipped |= 1u << axis;
  }
  TRY_DO(op.resize(y, x.shape()));
  const auto strides = strides_of(x.shape());
  Walk walk;
  for (u32 axis = 0; axis < x.rank(); ++axis) {
    const bool backwards = (flipped >> axis & 1) != 0;
    if (backwards) walk.base += (x.shape()[axis] - 1) * strides[axis];
    walk.add_axis(x.shape()[axis], backwards ? -strides[axis] : strides[axis]);
  }
  return move(op, x, y, walk);
}

// pixel_shuffle(x[…, C · r², H, W], r, out[…, C, H · r, W · r])
Status pixel_shuffle(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const i64 r = op.integer(1);
  REQUIRE(op, x.rank() >= 3, "an image has at least 3 axes, but the input is ", x.shape());
  REQUIRE(op, r >= 1 && r <= 65535 && x.dim(-3) % (r * r) == 0, x.dim(-3), " channels can't be spread over ", r, " x ",
          r, " pixels");
  const u32 factor = u32(r), channels = x.dim(-3) / (factor * factor), height = x.dim(-2), width = x.dim(-1);
  Shape shape = x.shape();
  shape[x.rank() - 3] = channels;
  shape[x.rank() - 2] = height * factor;
  shape[x.rank() - 1] = width * factor;
  TRY_DO(op.resize(y, shape));
  const u32 plane = height * width, block = plane * factor * factor;
  Walk walk;
  walk.add_axis(u32(x.shape().product(0, x.rank() - 3)), block * channels);
  walk.add_axis(channels, block);
  walk.add_axis(height, width);
  walk.add_axis(factor, plane * factor);
  walk.add_axis(width, 1);
  walk.add_axis(factor, plane);
  return move(op, x, y, walk);
}

// pixel_unshuffle(x[…, C, H · r, W · r], r, out[…, C · r², H, W])
Status pixel_unshuffle(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const i64 r = op.integer(1);
  REQUIRE(op, x.rank() >= 3, "an image has at least 3 axes, but the input is ", x.shape());
  REQUIRE(op, r >= 1 && r <= 65535, "the factor is ", r, "; it must be between 1 and 65535");
  REQUIRE_LIVE(op, x.dim(-2) % r == 0 && x.dim(-1) % r == 0, "an image of ", x.shape(), " has no whole blocks of ", r,
               " x ", r, " pixels");
  const u32 factor = u32(r), channels = x.dim(-3), height = x.dim(-2) / factor, width = x.dim(-1) / factor;
  Shape shape = x.shape();
  shape[x.rank() - 3] = channels * factor * factor;
  shape[x.rank() - 2] = height;
  shape[x.rank() - 1] = width;
  TRY_DO(op.resize(y, shape));
  Walk walk;
  walk.add_axis(u32(x.shape().product(0, x.rank() - 2)), x.dim(-2) * x.dim(-1));
  walk.add_axis(factor, x.dim(-1));
  walk.add_axis(factor, 1);
  walk.add_axis(height, x.dim(-1) * factor);
  walk.add_axis(width, factor);
  return move(op, x, y, walk);
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.permute_copy.default", permute, "x, axes: ints -> out"_sig},
    {"aten.permute.default", permute, "x, axes: ints -> out"_sig},
    {"aten.t_copy.default", transpose, "x -> out"_sig},
    {"aten.transpose_copy.int", swap_axes, "x, axis: int, other: int -> out"_sig},
    {"aten.diagonal_copy.default", diagonal, "x, offset: int = 0, axis: int = 0, other: int = 1 -> out"_sig},
    {"aten.as_strided_copy.default", as_strided, "x, sizes: ints, strides: ints, offset: int = 0 -> out"_sig},
    {"aten.flip.default", flip, "x, axes: ints -> out"_sig},
    {"aten.pixel_shuffle.default", pixel_shuffle, "x, factor: int -> out"_sig},
    {"aten.pixel_unshuffle.default", pixel_unshuffle, "x, factor: int -> out"_sig},
};
extern const OpList permute_ops = entries;

}  // namespace pteron::ops
