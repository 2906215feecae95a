// SPDX-License-Identifier: BSD-3-Clause
// Sums, products, means, extremes and where they are, over any set of axes.
#include "ops/results.h"
#include "ops/rows.h"

#include <bit>
#include <limits>

namespace pteron::ops {
namespace {

struct Params {
  RowParams rows;
  u32 nothing;  // f32 or i32 bits
};

enum class Kind { sum, mean, product, largest, smallest, any };

constexpr bool is_sum(Kind kind) { return kind == Kind::sum || kind == Kind::mean; }

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

u32 nothing_of(Kind kind, bool floating) {
  switch (kind) {
    case Kind::product: return floating ? std::bit_cast<u32>(1.0f) : 1;
    case Kind::largest:
    case Kind::smallest: break;
    default: return 0;
  }
  if (!floating) return kind == Kind::largest ? u32(INT32_MIN) : u32(INT32_MAX);
  constexpr f32 infinity = std::numeric_limits<f32>::infinity();
  return std::bit_cast<u32>(kind == Kind::largest ? -infinity : infinity);
}

Status reduce(Plan& op, Kind kind, AxisSet axes, bool keep) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const bool floating = is_float(y.dtype());
  const bool widens = (is_sum(kind) || kind == Kind::product) && floating;
  REQUIRE(op, is_float(x.dtype()) == floating || widens || kind == Kind::any, "the result is ", y.dtype(),
          ", but the input is ", x.dtype());
  REQUIRE(op, floating || kind != Kind::mean, "a mean is floating-point, not ", y.dtype());
  REQUIRE(op, kind != Kind::any || size_of(y.dtype()) == 1, "the result must be bool, not ", y.dtype());
  TRY_DO(op.resize(y, without(x.shape(), axes, keep)));
  TRY(const Rows rows, Rows::over(op, x, axes, {.reductions = 1}));
  const bool extreme = kind == Kind::largest || kind == Kind::smallest;
  REQUIRE(op, !extreme || rows.length() > 0 || y.numel() == 0, "rows of ", x.shape(),
          " have no elements, so no extreme");
  if (y.numel() == 0) return {};
  const Results results(op, y);
  Spec spec;
  spec.type("V", floating ? DType::f32 : DType::i32).input("x", x.dtype());
  rows.specialise(spec);
  spec.flag("SUM", is_sum(kind)).flag("MEAN", kind == Kind::mean).flag("PRODUCT", kind == Kind::product);
  spec.flag("ANY", kind == Kind::any).flag("LARGEST", kind != Kind::smallest).output("y", results.dtype());
  TRY_DO(op.dispatch({kernels::reduce, spec}, {x, results.operand()}, Params{rows.params(), nothing_of(kind, floating)},
                     rows.grid()));
  return results.finish(op);
}

// op(x, …, out): everything
template <Kind kind>
Status over_all(Plan& op) {
  return reduce(op, kind, axes_from(0, op.tensor(0).rank()), false);
}

// op(x, axis, keepdim, …, out)
template <Kind kind>
Status over_one(Plan& op) {
  return reduce(op, kind, 1u << op.axis(1, op.tensor(0).rank()), op.flag(2));
}

// op(x, axes?, keepdim, …, out)
template <Kind kind>
Status over_many(Plan& op) {
  TRY(const AxisSet axes, axes_in(op, 1, op.tensor(0).rank()));
  return reduce(op, kind, axes, op.flag(2));
}

// Where the extreme of each row is and, if asked for, what it is.
Status find_extreme(Plan& op, AxisSet axes, bool keep, const TensorArg* values, const TensorArg& places, bool largest) {
  const TensorArg x = op.tensor(0);
  REQUIRE(op, places.dtype() == DType::i32, "indices are integers, but the result is ", places.dtype());
  REQUIRE(op, !values || values->dtype() == x.dtype(), "the result is ", values->dtype(), ", but the input is ",
          x.dtype());
  const Shape shape = without(x.shape(), axes, keep);
  TRY_DO(op.resize(places, shape));
  if (values) TRY_DO(op.resize(*values, shape));
  TRY(const Rows rows, Rows::over(op, x, axes, {.reductions = 1}));
  REQUIRE(op, rows.length() > 0 || places.numel() == 0, "rows of ", x.shape(), " have no elements, so no extreme");
  if (places.numel() == 0) return {};
  Spec spec;
  spec.type("V", is_float(x.dtype()) ? DType::f32 : DType::i32).bind_input("x", x.dtype());
  spec.bind_output("y", DType::i32).flag("LARGEST", largest);
  rows.specialise(spec);
  const auto params = rows.params();
  if (!values) {
    spec.absent_output("best", is_float(x.dtype()) ? DType::f32 : DType::i32);
    return op.dispatch({kernels::arg_reduce, spec}, {x, places}, params, rows.grid());
  }
  const Results results(op, *values);
  spec.bind_output("best", results.dtype());
  TRY_DO(op.dispatch({kernels::arg_reduce, spec}, {x, places, results.operand()}, params, rows.grid()));
  return results.finish(op);
}

// op(x, axis?, keepdim, out): without an axis, the index in the flattened tensor.
template <bool largest>
Status place(Plan& op) {
  const u32 rank = op.tensor(0).rank();
  const AxisSet axes = op.is_null(1) ? axes_from(0, rank) : 1u << op.axis(1, rank);
  return find_extreme(op, axes, op.flag(2), nullptr, op.last_output(), largest);
}

// op(x, axis, keepdim, [values, indices])
template <bool largest>
Status value_and_place(Plan& op) {
  const TensorArg values = op.list_output(3, 0), places = op.list_output(3, 1);
  return find_extreme(op, 1u << op.axis(1, op.tensor(0).rank()), op.flag(2), &values, places, largest);
}

struct VarianceParams {
  RowParams rows;
  f32 divisor;
};

Status variance(Plan& op, f64 correction, bool keep, const TensorArg& y, const TensorArg* mean) {
  const TensorArg x = op.tensor(0);
  TRY(const AxisSet axes, axes_in(op, 1, x.rank()));
  REQUIRE(op, is_float(x.dtype()) && is_float(y.dtype()), "a variance is of floating-point numbers, not of ", x.dtype(),
          " in ", y.dtype());
  REQUIRE(op, !mean || is_float(mean->dtype()), "a mean is floating-point, not ", mean->dtype());
  const Shape shape = without(x.shape(), axes, keep);
  TRY_DO(op.resize(y, shape));
  if (mean) TRY_DO(op.resize(*mean, shape));
  TRY(const Rows rows, Rows::over(op, x, axes, {.reductions = 2}));
  if (y.numel() == 0) return {};
  Spec spec;
  spec.bind_input("x", x.dtype()).bind_output("y", y.dtype());
  rows.specialise(spec);
  const f64 divisor = rows.length() == 0 ? 0 : std::max(0.0, f64(rows.length()) - correction);
  const VarianceParams params{rows.params(), f32(divisor)};
  if (!mean) {
    spec.absent_output("middle", DType::f32);
    return op.dispatch({kernels::variance, spec}, {x, y}, params, rows.grid());
  }
  spec.bind_output("middle", mean->dtype());
  return op.dispatch({kernels::variance, spec}, {x, y, *mean}, params, rows.grid());
}

// var(x, axes?, correction, keepdim, out)
Status var(Plan& op) { return variance(op, op.number(2), op.flag(3), op.last_output(), nullptr); }
// var(x, axes?, unbiased, keepdim, out)
Status var_unbiased(Plan& op) { return variance(op, op.flag(2) ? 1 : 0, op.flag(3), op.last_output(), nullptr); }
// var_mean(x, axes?, correction, keepdim, [variance, mean])
Status var_mean(Plan& op) {
  const TensorArg y = op.list_output(4, 0), mean = op.list_output(4, 1);
  return variance(op, op.number(2), op.flag(3), y, &mean);
}

constexpr OpFamily many_as(graph::PlanFunction plan) {
  return {plan, "x, axes: ints?, keepdim: flag = false, dtype: any -> out"_sig};
}
constexpr OpFamily one_as(graph::PlanFunction plan) {
  return {plan, "x, axis: int, keepdim: flag = false, dtype: any -> out"_sig};
}
constexpr OpFamily all_as(graph::PlanFunction plan) { return {plan, "x, dtype: any -> out"_sig}; }
constexpr OpFamily place_as(graph::PlanFunction plan) {
  return {plan, "x, axis: int?, keepdim: flag = false -> out"_sig};
}
constexpr OpFamily value_and_place_as(graph::PlanFunction plan) {
  return {plan, "x, axis: int, keepdim: flag = false -> [values, indices]"_sig};
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.sum.dim_IntList", many_as(over_many<Kind::sum>)},
    {"aten.mean.dim", many_as(over_many<Kind::mean>)},
    {"aten.mean.default", all_as(over_all<Kind::mean>)},
    {"aten.prod.default", all_as(over_all<Kind::product>)},
    {"aten.prod.dim_int", one_as(over_one<Kind::product>)},
    {"aten.amax.default", many_as(over_many<Kind::largest>)},
    {"aten.amin.default", many_as(over_many<Kind::smallest>)},
    {"aten.max.default", all_as(over_all<Kind::largest>)},
    {"aten.min.default", all_as(over_all<Kind::smallest>)},
    {"aten.any.default", all_as(over_all<Kind::any>)},
    {"aten.any.dim", one_as(over_one<Kind::any>)},
    {"aten.any.dims", many_as(over_many<Kind::any>)},
    {"aten.argmax.default", place_as(place<true>)},
    {"aten.argmin.default", place_as(place<false>)},
    {"aten.max.dim", value_and_place_as(value_and_place<true>)},
    {"aten.min.dim", value_and_place_as(value_and_place<false>)},
    {"aten.var.correction", var, "x, axes: ints?, correction: number = 1, keepdim: flag = false -> out"_sig},
    {"aten.var.dim", var_unbiased, "x, axes: ints?, unbiased: flag = true, keepdim: flag = false -> out"_sig},
    {"aten.var_mean.correction", var_mean,
     "x, axes: ints?, correction: number = 1, keepdim: flag = false -> [variance, mean]"_sig},
};
extern const OpList reduce_ops = entries;

}  // namespace pteron::ops
