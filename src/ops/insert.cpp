// SPDX-License-Identifier: BSD-3-Clause
// A tensor with a part of it replaced: slices, single positions of an axis, what a mask marks.
#include "ops/move.h"
#include "ops/scan.h"
#include "ops/walk.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 count, inner, inner_inverse, size, size_inverse, start, step, step_inverse, positions;
};

// y = x with x[…, start + step · i, …] replaced by source[…, i, …] for i below `positions`.
Status insert(Plan& op, const TensorArg& x, const TensorArg& source, const TensorArg& y, u32 axis, u32 start, u32 step,
              u32 positions) {
  REQUIRE(op, x.dtype() == y.dtype() && source.dtype() == y.dtype(), "the inputs are ", x.dtype(), " and ",
          source.dtype(), ", but the result is ", y.dtype());
  TRY_DO(op.resize(y, x.shape()));
  if (y.numel() == 0) return {};
  const u32 inner = u32(x.shape().product(axis + 1, x.rank())), size = x.shape()[axis];
  const Params params{.count = u32(y.numel()),
                      .inner = inner,
                      .inner_inverse = inverse_of(inner),
                      .size = size,
                      .size_inverse = inverse_of(size),
                      .start = start,
                      .step = step,
                      .step_inverse = inverse_of(step),
                      .positions = positions};
  const Spec spec =
      Spec().input_quads("x", x.dtype()).input_quads("source", source.dtype()).output_quads("y", y.dtype());
  return op.dispatch({kernels::insert, spec}, {x, source, y}, params, one_thread_per(ceil_div(params.count, 4), 64));
}

// slice_scatter(x, source, axis, start?, end?, step, out)
Status slice_scatter(Plan& op) {
  const TensorArg x = op.tensor(0), source = op.tensor(1), y = op.last_output();
  REQUIRE(op, x.rank() >= 1, "a scalar has no slices");
  const u32 axis = op.axis(2, x.rank());
  const i64 size = x.shape().dim(i32(axis));
  const auto bound = [&](i64 at) { return std::clamp<i64>(at < 0 ? at + size : at, 0, size); };
  const i64 start = bound(op.integer(3)), end = std::max(start, bound(op.integer_or(4, size))), step = op.integer(5);
  REQUIRE(op, step >= 1, "the step is ", step, "; it must be at least 1");
  Shape shape = x.shape();
  shape[axis] = u32((end - start) / step + ((end - start) % step != 0));
  REQUIRE_LIVE(op, source.shape() == shape, "the source is ", source.shape(), ", but the slice has shape ", shape);
  return insert(op, x, source, y, axis, u32(start), u32(std::min<i64>(step, INT32_MAX)), shape[axis]);
}

// select_scatter(x, source, axis, index, out)
Status select_scatter(Plan& op) {
  const TensorArg x = op.tensor(0), source = op.tensor(1), y = op.last_output();
  REQUIRE(op, x.rank() >= 1, "a scalar has no positions");
  const u32 axis = op.axis(2, x.rank());
  const i64 size = x.shape().dim(i32(axis));
  i64 index = op.integer(3);
  REQUIRE_LIVE(op, index >= -size && index < size, "index ", index, " is out of range for axis ", axis, " of ",
               x.shape());
  index = std::clamp<i64>(index < 0 ? index + size : index, 0, std::max<i64>(size - 1, 0));
  Shape shape;
  for (u32 i = 0; i < x.rank(); ++i)
    if (i != axis) shape.push_back(x.shape()[i]);
  REQUIRE_LIVE(op, source.shape() == shape, "the source is ", source.shape(), ", but a position has shape ", shape);
  return insert(op, x, source, y, axis, u32(index), 1, 1);
}

// masked_scatter(x, mask, source, out): the marked elements become the first ones of the source, in order.
Status masked_scatter(Plan& op) {
  const TensorArg x = op.tensor(0), mask = op.tensor(1), source = op.tensor(2), y = op.last_output();
  REQUIRE(op, x.dtype() == y.dtype() && source.dtype() == y.dtype(), "the inputs are ", x.dtype(), " and ",
          source.dtype(), ", but the result is ", y.dtype());
  REQUIRE(op, mask.dtype() == DType::boolean, "the mask must be bool, not ", mask.dtype());
  REQUIRE_SUPPORTED(op, mask.max() == x.max(), "a mask of shape ", mask.max(), " for ", x.max(),
                    " is not supported; expand it first");
  REQUIRE_LIVE(op, mask.shape() == x.shape(), "the mask is ", mask.shape(), ", but the input is ", x.shape());
  TRY_DO(op.resize(y, x.shape()));
  if (y.numel() == 0) return {};
  const Operand ranks = op.scratch((x.max().numel() + 3) / 4 * 4 * sizeof(i32));
  TRY_DO(scan(op, mask, ranks, DType::i32, {1, u32(x.numel()), 1}, {1, u32(x.max().numel()), 1}, false));
  struct {
    u32 count, available, fault;
  } const params{u32(y.numel()), u32(source.numel()), op.fault_slot("number of marked elements", source.numel() + 1)};
  const Spec spec = Spec()
                        .input_quads("x", x.dtype())
                        .input_quads("mask", mask.dtype())
                        .input_quads("source", source.dtype())
                        .output_quads("y", y.dtype());
  return op.dispatch({kernels::masked_scatter, spec}, {x, mask, ranks, source, y, op.fault()}, params,
                     one_thread_per(ceil_div(params.count, 4), 64));
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.slice_scatter.default", slice_scatter,
     "x, source, axis: int = 0, start: int = 0, end: int?, step: int = 1 -> out"_sig},
    {"aten.select_scatter.default", select_scatter, "x, source, axis: int, index: int -> out"_sig},
    {"aten.masked_scatter.default", masked_scatter, "x, mask, source -> out"_sig},
};
extern const OpList insert_ops = entries;

}  // namespace pteron::ops
