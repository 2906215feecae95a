// SPDX-License-Identifier: BSD-3-Clause
#include "ops/move.h"

#include "ops/walk.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 count, rank, base, pad;
  Axes<1, Walk::max_axes> axes;
};

Params params_of(const Walk& walk) {
  Params params{};
  params.base = walk.base;
  for (u32 i = 0; i < walk.rank; ++i) {
    params.axes.dims[i] = walk.sizes[walk.rank - 1 - i];
    params.axes.strides[0][i] = walk.strides[walk.rank - 1 - i];
  }
  params.rank = params.axes.merge(walk.rank);
  return params;
}

}  // namespace

std::array<u32, Shape::max_rank> strides_of(const Shape& shape) {
  std::array<u32, Shape::max_rank> out{};
  u32 stride = 1;
  for (u32 i = shape.rank(); i-- > 0;) {
    out[i] = stride;
    stride *= shape[i];
  }
  return out;
}

Status move(Plan& op, const TensorArg& x, const TensorArg& y, const Walk& walk) {
  if (y.numel() == 0) return move(op, x, y, walk, false);
  return move(op, x, y, walk, op.branch(moves_quads(walk)));
}

bool moves_quads(const Walk& walk) {
  const Params params = params_of(walk);
  return params.axes.in_quads(0, params.rank, walk.base);
}

Status move(Plan& op, const TensorArg& x, const TensorArg& y, const Walk& walk, bool in_quads) {
  REQUIRE(op, x.dtype() == y.dtype(), "the result is ", y.dtype(), ", but the input is ", x.dtype());
  if (y.numel() == 0) return {};
  Params params = params_of(walk);
  params.count = u32(y.numel());
  const Access access = in_quads ? Access::rows : Access::scattered;
  return op.dispatch({kernels::move, Spec()
                                         .type("V", is_float(x.dtype()) ? DType::f32 : DType::i32)
                                         .input_quads("x", x.dtype())
                                         .output_quads("y", y.dtype())
                                         .load("x", access, 0)},
                     {x, y}, params, one_thread_per(ceil_div(params.count, 4), 64));
}

}  // namespace pteron::ops
