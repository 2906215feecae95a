// SPDX-License-Identifier: BSD-3-Clause
#include "ops/common.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 count, inner, size, total, first, elements;
};

// cat([x…], axis, out). Like torch, ignores inputs of shape [0].
Status cat(Plan& op) {
  const TensorArg y = op.last_output();
  const u32 count = op.list_size(0);
  REQUIRE(op, count > 0, "there is nothing to concatenate");
  const u32 axis = op.axis(1, y.max().rank());
  Shape shape;
  bool first_shape = true;
  const auto skipped = [](const TensorArg& x) { return x.max().rank() == 1 && x.max()[0] == 0; };
  for (u32 i = 0; i < count; ++i) {
    const TensorArg x = op.list_tensor(0, i);
    REQUIRE(op, x.dtype() == y.dtype(), "input ", i, " is ", x.dtype(), ", but the result is ", y.dtype());
    if (skipped(x)) continue;
    if (first_shape) {
      shape = x.shape();
      first_shape = false;
      REQUIRE(op, axis < shape.rank(), "axis ", axis, " is out of range for ", shape);
      continue;
    }
    REQUIRE(op, x.rank() == shape.rank(), "input ", i, " ", x.shape(), " has another rank than ", shape);
    for (u32 d = 0; d < shape.rank(); ++d)
      REQUIRE_LIVE(op, d == axis || x.shape()[d] == shape[d], "input ", i, " ", x.shape(), " differs from ", shape,
                   " in axis ", d);
    shape[axis] += x.shape()[axis];
  }
  TRY_DO(op.resize(y, shape));
  if (y.numel() == 0) return {};
  const u32 inner = u32(shape.product(axis + 1, shape.rank())), total = y.dim(i32(axis));
  const bool packed = graph::elements_per_unit(y.dtype()) > 1;
  u32 first = 0;
  for (u32 i = 0; i < count; ++i) {
    const TensorArg x = op.list_tensor(0, i);
    if (skipped(x) || x.numel() == 0) continue;
    const u32 size = x.shape().dim(i32(axis));
    const u32 threads = u32(packed ? (y.numel() + 3) / 4 : x.numel());
    TRY_DO(op.dispatch({kernels::cat, Spec().flag("PACKED", packed).input("x", x.dtype()).output("y", y.dtype())},
                       {x, y}, Params{threads, inner, size, total, first, u32(y.numel())},
                       one_thread_per(threads, 64)));
    first += size;
  }
  return {};
}

}  // namespace

static constexpr OpEntry entries[] = {{"aten.cat.default", cat}};
extern const OpList cat_ops = entries;

}  // namespace pteron::ops
