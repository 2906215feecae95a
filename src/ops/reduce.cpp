// SPDX-License-Identifier: BSD-3-Clause
// Sums, means, extremes and where they are, over any set of axes.
#include "ops/rows.h"

#include <bit>
#include <limits>

namespace pteron::ops {
namespace {

struct Params {
  RowParams rows;
  u32 nothing;  // f32 or i32 bits
};

enum class Kind { sum, mean, largest, smallest };

// The axes that a list names; all if it names none.
Result<AxisSet> axes_in(Plan& op, u32 arg, u32 rank) {
  const IntList list = op.ints(arg);
  if (list.empty()) return axes_from(0, rank);
  AxisSet axes = 0;
  for (u32 i = 0; i < list.size(); ++i) {
    const u32 axis = op.normalize_axis(list[i], rank);
    REQUIRE(op, !has_axis(axes, axis), "axis ", axis, " is named twice");
    axes |= 1u << axis;
  }
  return axes;
}

Shape without(const Shape& shape, AxisSet axes, bool keep) {
  Shape out;
  for (u32 axis = 0; axis < shape.rank(); ++axis)
    if (!has_axis(axes, axis))
      out.push_back(shape[axis]);
    else if (keep)
      out.push_back(1);
  return out;
}

Spec spec_of(const TensorArg& x, const Rows& rows, bool floating) {
  Spec spec;
  spec.type("V", floating ? DType::f32 : DType::i32).input("x", x.dtype());
  rows.specialise(spec);
  return spec;
}

u32 nothing_of(Kind kind, bool floating) {
  if (kind == Kind::sum || kind == Kind::mean) return 0;
  if (!floating) return kind == Kind::largest ? u32(INT32_MIN) : u32(INT32_MAX);
  constexpr f32 infinity = std::numeric_limits<f32>::infinity();
  return std::bit_cast<u32>(kind == Kind::largest ? -infinity : infinity);
}

// op(x, axes?, keepdim, …, out)
Status reduce(Plan& op, Kind kind) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const bool floating = is_float(y.dtype()), sum = kind == Kind::sum || kind == Kind::mean;
  TRY(const AxisSet axes, axes_in(op, 1, x.rank()));
  REQUIRE(op, is_float(x.dtype()) == floating || (sum && floating), "the result is ", y.dtype(), ", but the input is ",
          x.dtype());
  REQUIRE(op, floating || kind != Kind::mean, "a mean is floating-point, not ", y.dtype());
  REQUIRE_SUPPORTED(op, size_of(y.dtype()) > 1, "reductions to ", y.dtype(), " are not supported; cast to int32 first");
  TRY_DO(op.resize(y, without(x.shape(), axes, op.flag(2))));
  TRY(const Rows rows, Rows::over(op, x, axes, {.reductions = 1}));
  REQUIRE(op, sum || rows.length() > 0 || y.numel() == 0, "rows of ", x.shape(), " have no elements, so no extreme");
  if (y.numel() == 0) return {};
  Spec spec = spec_of(x, rows, floating);
  spec.flag("SUM", sum).flag("MEAN", kind == Kind::mean).flag("LARGEST", kind == Kind::largest).output("y", y.dtype());
  return op.dispatch({kernels::reduce, spec}, {x, y}, Params{rows.params(), nothing_of(kind, floating)}, rows.grid());
}

Status sum(Plan& op) { return reduce(op, Kind::sum); }
Status mean(Plan& op) { return reduce(op, Kind::mean); }
Status amax(Plan& op) { return reduce(op, Kind::largest); }
Status amin(Plan& op) { return reduce(op, Kind::smallest); }

// op(x, axis?, keepdim, out): without an axis, the index in the flattened tensor.
Status arg_reduce(Plan& op, bool largest) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const AxisSet axes = op.is_null(1) ? axes_from(0, x.rank()) : 1u << op.axis(1, x.rank());
  REQUIRE(op, y.dtype() == DType::i32, "indices are integers, but the result is ", y.dtype());
  TRY_DO(op.resize(y, without(x.shape(), axes, op.flag(2))));
  TRY(const Rows rows, Rows::over(op, x, axes, {.reductions = 1}));
  REQUIRE(op, rows.length() > 0 || y.numel() == 0, "rows of ", x.shape(), " have no elements, so no extreme");
  if (y.numel() == 0) return {};
  Spec spec = spec_of(x, rows, is_float(x.dtype()));
  spec.flag("LARGEST", largest);
  return op.dispatch({kernels::arg_reduce, spec}, {x, y}, rows.params(), rows.grid());
}

Status argmax(Plan& op) { return arg_reduce(op, true); }
Status argmin(Plan& op) { return arg_reduce(op, false); }

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.sum.dim_IntList", sum, "x, axes: ints?, keepdim: flag = false, dtype: any -> out"_sig},
    {"aten.mean.dim", mean, "x, axes: ints?, keepdim: flag = false, dtype: any -> out"_sig},
    {"aten.amax.default", amax, "x, axes: ints?, keepdim: flag = false -> out"_sig},
    {"aten.amin.default", amin, "x, axes: ints?, keepdim: flag = false -> out"_sig},
    {"aten.argmax.default", argmax, "x, axis: int?, keepdim: flag = false -> out"_sig},
    {"aten.argmin.default", argmin, "x, axis: int?, keepdim: flag = false -> out"_sig},
};
extern const OpList reduce_ops = entries;

}  // namespace pteron::ops
