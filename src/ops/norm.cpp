// SPDX-License-Identifier: BSD-3-Clause
// Norms over rows: layer, group, root-mean-square and batch norm are one kernel; the root-mean-square norm has another
// on GPUs.
#include "ops/norm.h"

#include "ops/bindings.h"
#include "ops/routes.h"
#include "ops/rows.h"

namespace pteron::ops {
namespace {

struct Params {
  RowParams rows;
  u32 groups, stride;
  f32 eps;
};
struct VectorParams {
  u32 rows;
  f32 eps;
};

// A row is scaled by w and shifted by b, elements of which serve `stride` neighbours each; rows take turns on `groups`
// stretches of them.
struct Norm {
  TensorArg x;
  Operand y;
  DType y_dtype;
  std::optional<TensorArg> w, b, mean, rstd;
  std::optional<Rows> rows;
  bool centered = true;
  u32 groups = 1, stride = 1;
  f64 eps = 0;
};

constexpr RowWork row_work{.reductions = 2, .writes = 1};

Status normalize(Plan& op, const Norm& n) {
  const auto floating = [](const std::optional<TensorArg>& t) { return !t || is_float(t->dtype()); };
  REQUIRE(op, is_float(n.x.dtype()) && is_float(n.y_dtype) && floating(n.w) && floating(n.b),
          "only floating-point tensors can be normalised, not ", n.x.dtype());
  for (const auto* of : {&n.mean, &n.rstd})
    REQUIRE(op, floating(*of), "mean and deviation are floating-point, not ", (*of)->dtype());
  if (n.rows->count() == 0) return {};
  Bindings bindings;
  bindings.input("x", n.x);
  bindings.optional_input("weight", n.w, 1);
  bindings.optional_input("bias", n.b, 0);
  bindings.output("y", n.y, n.y_dtype);
  bindings.optional_output("mean", n.mean, DType::f32);
  bindings.optional_output("rstd", n.rstd, DType::f32);
  bindings.spec.flag("CENTERED", n.centered);
  n.rows->specialise(bindings.spec);
  return bindings.dispatch(op, kernels::norm, Params{n.rows->params(), n.groups, n.stride, f32(n.eps)}, n.rows->grid());
}

// Rows that a workgroup can keep as a whole, in vectors of four elements.
bool can_keep_rows(Plan& op, const TensorArg& x, const TensorArg& weight, DType y_dtype) {
  const u32 width = x.dim(-1);
  return x.numel() > 0 && width % 4 == 0 && width <= 8192 && op.shape_is_fixed(weight) && is_float(x.dtype()) &&
         is_float(weight.dtype()) && is_float(y_dtype);
}

Status rms_norm_in_vectors(Plan& op, const TensorArg& x, const TensorArg& weight, const Operand& y, DType y_dtype,
                           f64 eps) {
  const u32 chunks = x.dim(-1) / 4, rows = u32(x.numel() / x.dim(-1));
  const Spec spec = Spec()
                        .num("SIZE", std::min(ceil_div(chunks, 64) * 64, 256u))
                        .num("CHUNKS", chunks)
                        .bind_input_quads("x", x.dtype())
                        .bind_input_quads("weight", weight.dtype())
                        .bind_output_quads("y", y_dtype);
  return op.dispatch({kernels::rms_norm, spec}, {x, weight, y}, VectorParams{rows, f32(eps)}, one_group_per(rows));
}

Status rms_norm(Plan& op, const TensorArg& x, const TensorArg& weight, const Operand& y, DType y_dtype, f64 eps) {
  if (can_keep_rows(op, x, weight, y_dtype)) {
    const Work work{u32(x.numel() / x.dim(-1)), 1, x.dim(-1), 1, true};
    TRY(const std::string_view route, choose_route(op, "rms_norm", work));
    if (route == "vectors") return rms_norm_in_vectors(op, x, weight, y, y_dtype, eps);
  }
  Norm n{x, y, y_dtype};
  n.w = weight;
  TRY(n.rows, Rows::over(op, x, 1u << (x.rank() - 1), row_work));
  n.centered = false;
  n.eps = eps;
  return normalize(op, n);
}

// et_vk.rms_norm(x, weight, eps, out): over the last axis.
Status rms_norm_op(Plan& op) {
  const TensorArg x = op.tensor(0), w = op.tensor(1), y = op.output(3);
  REQUIRE(op, x.rank() >= 1, "the input must have at least one axis");
  REQUIRE(op, w.numel() == x.dim(-1), "the weight has ", w.numel(), " elements, but rows of ", x.shape(), " have ",
          x.dim(-1));
  TRY_DO(op.resize(y, x.shape()));
  return rms_norm(op, x, w, y, y.dtype(), op.number(2));
}

// op(x, …, weight?, bias?, …, [out, mean, rstd]), where weight and results are these arguments.
Norm read_norm(Plan& op, u32 weight, u32 results) {
  const TensorArg y = op.list_output(results, 0);
  Norm n{op.tensor(0), y, y.dtype()};
  n.w = op.maybe_tensor(weight);
  n.b = op.maybe_tensor(weight + 1);
  n.mean = op.list_output(results, 1);
  n.rstd = op.list_output(results, 2);
  return n;
}

Status resize_results(Plan& op, const Norm& n, u32 results, const Shape& stats) {
  TRY_DO(op.resize(op.list_output(results, 0), n.x.shape()));
  TRY_DO(op.resize(*n.mean, stats));
  return op.resize(*n.rstd, stats);
}

// Channels are axis 1; each has an element of weight and bias.
Status check_channels(Plan& op, const Norm& n, std::string_view name) {
  REQUIRE(op, n.x.rank() >= 2, name, " norm needs [batch, channels, ..], not ", n.x.shape());
  for (const auto& affine : {n.w, n.b})
    REQUIRE(op, !affine || affine->numel() == n.x.dim(1), "a weight or bias has ", affine ? affine->numel() : 0,
            " elements, but there are ", n.x.dim(1), " channels");
  return {};
}

// native_layer_norm(x, shape, weight?, bias?, eps, [out, mean, rstd]): over the last axes, as many as `shape` has.
Status layer_norm(Plan& op) {
  Norm n = read_norm(op, 2, 5);
  const IntList shape = op.ints(1);
  const u32 rank = n.x.rank();
  REQUIRE(op, shape.size() >= 1 && shape.size() <= rank, "rows of ", shape.size(), " axes can't be taken from ",
          n.x.shape());
  const u32 first = rank - shape.size();
  Shape stats = n.x.shape();
  for (u32 i = 0; i < shape.size(); ++i) {
    REQUIRE_LIVE(op, shape[i] == i64(n.x.shape()[first + i]), "axis ", first + i, " of ", n.x.shape(), " should be ",
                 shape[i]);
    stats[first + i] = 1;
  }
  const u64 length = n.x.shape().product(first, rank);
  for (const auto& affine : {n.w, n.b})
    REQUIRE_LIVE(op, !affine || affine->numel() == length, "a weight or bias has ", affine ? affine->numel() : 0,
                 " elements, but rows have ", length);
  TRY_DO(resize_results(op, n, 5, stats));
  TRY(n.rows, Rows::over(op, n.x, axes_from(first, rank), row_work));
  n.eps = op.number(4);
  return normalize(op, n);
}

// native_group_norm(x, weight?, bias?, N, C, HxW, groups, eps, [out, mean, rstd]): over groups of channels, axis 1. The
// sizes come from x, whose live shape N, C and HxW may not know.
Status group_norm(Plan& op) {
  Norm n = read_norm(op, 1, 8);
  const i64 groups = op.integer(6);
  TRY_DO(check_channels(op, n, "group"));
  const u32 batch = n.x.dim(0), channels = n.x.dim(1);
  REQUIRE(op, groups > 0 && groups <= i64(UINT32_MAX) && channels % groups == 0, channels, " channels can't form ",
          groups, " groups");
  TRY_DO(resize_results(op, n, 8, {batch, u32(groups)}));
  n.groups = u32(groups);
  n.stride = u32(n.x.shape().product(2, n.x.rank()));
  const auto as_rows = [&](const Shape& s) { return Shape{s[0] * n.groups, u32(s.product(1, s.rank()) / n.groups)}; };
  TRY(n.rows, Rows::over(op, as_rows(n.x.shape()), as_rows(n.x.max()), axes_from(1, 2), row_work));
  n.eps = op.number(7);
  return normalize(op, n);
}

// _native_batch_norm_legit.no_stats(x, weight?, bias?, training, momentum, eps, [out, mean, rstd]): each channel, axis
// 1, over all other axes.
Status batch_norm(Plan& op) {
  Norm n = read_norm(op, 1, 6);
  TRY_DO(check_channels(op, n, "batch"));
  REQUIRE(op, op.flag(3), "batch norm without training needs statistics, but there are none");
  const u32 channels = n.x.dim(1);
  TRY_DO(resize_results(op, n, 6, {channels}));
  TRY(n.rows, Rows::over(op, n.x, axes_from(0, n.x.rank()) & ~2u, row_work));
  n.groups = std::max(channels, 1u);
  n.stride = std::max(n.rows->length(), 1u);
  n.eps = op.number(5);
  return normalize(op, n);
}

}  // namespace

Status rms_norm(Plan& op, const TensorArg& x, const TensorArg& weight, const Operand& y, f64 eps) {
  return rms_norm(op, x, weight, y, DType::f32, eps);
}

static constexpr OpEntry entries[] = {
    {"et_vk.rms_norm.default", rms_norm_op, "x, weight, eps: number = 1.1920929e-07 -> out"_sig, lanewise},
    {"aten.native_layer_norm.default", layer_norm,
     "x, sizes: ints, weight?, bias?, eps: number -> [out, mean, rstd]"_sig},
    {"aten.native_group_norm.default", group_norm,
     "x, weight?, bias?, n: any, c: any, hxw: any, groups: int, eps: number -> [out, mean, rstd]"_sig},
    {"aten._native_batch_norm_legit.no_stats", batch_norm,
     "x, weight?, bias?, training: flag, momentum: any, eps: number -> [out, mean, rstd]"_sig},
};
extern const OpList norm_ops = entries;

}  // namespace pteron::ops
