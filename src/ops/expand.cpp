// SPDX-License-Identifier: BSD-3-Clause
// Elements that appear more than once in the result.
#include "ops/move.h"

#include <algorithm>

namespace pteron::ops {
namespace {

// expand_copy(x, sizes, implicit, out): −1 keeps an axis as it is; axes are added in front.
Status expand(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const IntList sizes = op.ints(1);
  REQUIRE(op, sizes.size() >= x.rank() && sizes.size() <= Shape::max_rank, x.shape(), " can't be expanded to rank ",
          sizes.size());
  const u32 added = sizes.size() - x.rank();
  const auto strides = strides_of(x.shape());
  Shape shape;
  Walk walk;
  for (u32 i = 0; i < sizes.size(); ++i) {
    const u32 have = i < added ? 1 : x.shape()[i - added];
    const i64 size = sizes[i] == -1 && i >= added ? have : sizes[i];
    REQUIRE_LIVE(op, size >= 0 && size <= i64(UINT32_MAX) && (have == 1 || have == size), x.shape(),
                 " can't be expanded to ", sizes[i], " in axis ", i);
    shape.push_back(u32(size));
    walk.add_axis(u32(size), have == 1 ? 0 : strides[i - added]);
  }
  TRY_DO(op.resize(y, shape));
  return move(op, x, y, walk);
}

// repeat(x, times, out): axes are added in front.
Status repeat(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const IntList times = op.ints(1);
  REQUIRE(op, times.size() >= x.rank() && times.size() <= Shape::max_rank, times.size(), " repeats are given for ",
          x.shape());
  const u32 added = times.size() - x.rank();
  const auto strides = strides_of(x.shape());
  Shape shape;
  Walk walk;
  for (u32 i = 0; i < times.size(); ++i) {
    const u32 size = i < added ? 1 : x.shape()[i - added];
    REQUIRE_LIVE(op, times[i] >= 0 && times[i] <= i64(UINT32_MAX) / std::max(size, 1u), "axis ", i, " of size ", size,
                 " can't be repeated ", times[i], " times");
    shape.push_back(size * u32(times[i]));
    walk.add_axis(u32(times[i]), 0);
    walk.add_axis(size, i < added ? 0 : strides[i - added]);
  }
  TRY_DO(op.resize(y, shape));
  return move(op, x, y, walk);
}

// unfold_copy(x, axis, size, step, out): windows along an axis; their elements become a last axis.
Status unfold(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const u32 axis = op.axis(1, x.rank());
  const i64 window = op.integer(2), step = op.integer(3), have = x.shape().dim(i32(axis));
  REQUIRE(op, x.rank() < Shape::max_rank, "the result would have rank ", x.rank() + 1, "; at most ", Shape::max_rank,
          " is supported");
  REQUIRE(op, step >= 1, "the step is ", step, "; it must be at least 1");
  REQUIRE_LIVE(op, window >= 0 && window <= have, "windows of ", window, " don't fit in axis ", axis, " of ",
               x.shape());
  const u32 size = u32(std::clamp<i64>(window, 0, have));
  const auto strides = strides_of(x.shape());
  Shape shape;
  Walk walk;
  for (u32 i = 0; i < x.rank(); ++i) {
    const u32 count = i == axis ? u32((have - size) / step + 1) : x.shape()[i];
    shape.push_back(count);
    walk.add_axis(count, strides[i] * (i == axis ? u32(step) : 1));
  }
  shape.push_back(size);
  walk.add_axis(size, x.rank() == 0 ? 0 : strides[axis]);
  TRY_DO(op.resize(y, shape));
  return move(op, x, y, walk);
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.expand_copy.default", expand, "x, sizes: ints, ... -> out"_sig},
    {"aten.repeat.default", repeat, "x, times: ints -> out"_sig},
    {"aten.unfold_copy.default", unfold, "x, axis: int, size: int, step: int -> out"_sig},
};
extern const OpList expand_ops = entries;

}  // namespace pteron::ops
