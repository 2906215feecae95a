// SPDX-License-Identifier: BSD-3-Clause
#include "ops/move.h"

#include <algorithm>

namespace pteron::ops {
namespace {

struct Params {
  u32 count, rank, base, pad;
  u32 dims[Walk::max_axes];
  i32 strides[Walk::max_axes];
};

}  // namespace

std::array<i64, Shape::max_rank> strides_of(const Shape& shape) {
  std::array<i64, Shape::max_rank> out{};
  i64 stride = 1;
  for (u32 i = shape.rank(); i-- > 0;) {
    out[i] = stride;
    stride *= shape[i];
  }
  return out;
}

Walk Walk::over(const Shape& shape) {
  Walk walk;
  const auto strides = strides_of(shape);
  for (u32 i = 0; i < shape.rank(); ++i) walk.add_axis(shape[i], strides[i]);
  return walk;
}

void Walk::simplify() {
  u32 kept = 0;
  for (u32 axis = 0; axis < rank; ++axis) {
    if (sizes[axis] == 1) continue;
    if (kept > 0 && strides[kept - 1] == strides[axis] * i64(sizes[axis])) {
      sizes[kept - 1] *= sizes[axis];
      strides[kept - 1] = strides[axis];
    } else {
      sizes[kept] = sizes[axis];
      strides[kept] = strides[axis];
      ++kept;
    }
  }
  rank = kept;
}

Status move(Plan& op, const TensorArg& x, const TensorArg& y, Walk walk) {
  REQUIRE(op, x.dtype() == y.dtype(), "the result is ", y.dtype(), ", but the input is ", x.dtype());
  if (y.numel() == 0) return {};
  walk.simplify();
  Params params{u32(y.numel()), walk.rank, u32(walk.base), 0, {}, {}};
  for (u32 i = 0; i < walk.rank; ++i) {
    params.dims[i] = walk.sizes[i];
    params.strides[i] = i32(walk.strides[i]);
  }
  return op.dispatch({kernels::move, Spec().input("x", x.dtype()).output("y", y.dtype())}, {x, y}, params,
                     one_thread_per_unit(y, 64));
}

namespace {

// slice_copy(x, axis, start?, end?, step, out)
Status slice(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  REQUIRE(op, x.rank() >= 1, "a scalar can't be sliced");
  const u32 axis = op.axis(1, x.rank());
  const i64 size = x.shape()[axis];
  const auto bound = [&](u32 arg, i64 if_null) {
    const i64 at = op.integer_or(arg, if_null);
    return std::clamp<i64>(at < 0 ? at + size : at, 0, size);
  };
  const i64 start = bound(2, 0), end = std::max(start, bound(3, size)), step = op.integer_or(4, 1);
  REQUIRE(op, step >= 1, "the step is ", step, "; it must be at least 1");
  Shape shape = x.shape();
  shape[axis] = u32((end - start + step - 1) / step);
  TRY_DO(op.resize(y, shape));
  Walk walk;
  const auto strides = strides_of(x.shape());
  for (u32 i = 0; i < x.rank(); ++i) walk.add_axis(y.shape()[i], strides[i] * (i == axis ? step : 1));
  walk.base = start * strides[axis];
  return move(op, x, y, walk);
}

// select_copy(x, axis, index, out)
Status select(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  REQUIRE(op, x.rank() >= 1, "a scalar has no element to select");
  const u32 axis = op.axis(1, x.rank());
  const i64 size = x.shape()[axis];
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
  walk.base = index * strides[axis];
  TRY_DO(op.resize(y, shape));
  return move(op, x, y, walk);
}

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

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.slice_copy.Tensor", slice},
    {"aten.select_copy.int", select},
    {"aten.permute_copy.default", permute},
    {"aten.permute.default", permute},
};
extern const OpList move_ops = entries;

}  // namespace pteron::ops
