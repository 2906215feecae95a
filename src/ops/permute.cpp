// SPDX-License-Identifier: BSD-3-Clause
// The same elements in another order.
#include "ops/move.h"

namespace pteron::ops {
namespace {

// permute_copy(x, axes, out)
Status permute(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const IntList axes = op.ints(1);
  REQUIRE(op, axes.size() == x.rank(), axes.size(), " axes are given for rank ", x.rank());
  const auto strides = strides_of(x.shape());
  Shape shape;
  Walk walk;
  u32 seen = 0;
  for (u32 i = 0; i < axes.size(); ++i) {
    const u32 axis = op.normalize_axis(axes[i], x.rank());
    seen |= 1u << axis;
    shape.push_back(x.shape().dim(i32(axis)));
    walk.add_axis(x.shape().dim(i32(axis)), strides[axis]);
  }
  REQUIRE(op, seen == (1u << axes.size()) - 1, "the axes are not a permutation");
  TRY_DO(op.resize(y, shape));
  return move(op, x, y, walk);
}

// t_copy(x, out)
Status transpose(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  REQUIRE(op, x.rank() <= 2, "a tensor of rank ", x.rank(), " can't be transposed; at most 2 is possible");
  const auto strides = strides_of(x.shape());
  Shape shape;
  Walk walk;
  for (u32 axis = x.rank(); axis-- > 0;) {
    shape.push_back(x.shape()[axis]);
    walk.add_axis(x.shape()[axis], strides[axis]);
  }
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

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.permute_copy.default", permute, "x, axes: ints -> out"_sig},
    {"aten.permute.default", permute, "x, axes: ints -> out"_sig},
    {"aten.t_copy.default", transpose, "x -> out"_sig},
    {"aten.flip.default", flip, "x, axes: ints -> out"_sig},
    {"aten.pixel_shuffle.default", pixel_shuffle, "x, factor: int -> out"_sig},
};
extern const OpList permute_ops = entries;

}  // namespace pteron::ops
