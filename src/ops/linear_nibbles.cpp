// SPDX-License-Identifier: BSD-3-Clause
#include "ops/linear_nibbles.h"

#include <algorithm>

namespace pteron::ops {
namespace {

Gemm::Quads depth_quads(u32 depth) { return depth % 4 == 0 ? Gemm::along_depth : Gemm::none; }

void set_bytes(Gemm& gemm, const TensorArg& w, bool high_first) {
  gemm.flag("B_WORDS", w.dim(1) % 4 == 0);
  gemm.flag("B_HIGH_FIRST", high_first);
  gemm.use("nibbles");
}

// B, a column for each row of the weight. A group is a section where that is possible.
void set_columns(Gemm& gemm, const GroupedWeight& w, u32 depth) {
  GemmParams& g = gemm.params;
  const bool sections = w.group % 4 == 0 && depth % w.group == 0;
  g.depth = sections ? w.group : depth;
  g.sections_x = sections ? depth / w.group : 1;
  g.a_section = g.group = w.group;
  g.b_column = w.row_bytes();
  g.scale_stride = w.scales.dim(1);
  gemm.bind_weight(w.bytes, w.row_bytes());
  gemm.bind("b_scale", w.scales);
  set_bytes(gemm, w.bytes, false);
  gemm.flag("B_GROUPED", true);
  gemm.flag("B_SECTIONS", sections);
  gemm.flag("B_SCALE_QUADS", w.scales.dim(1) % 4 == 0);
  gemm.use("b_group_scales");
  gemm.use("b_nibbles");
}

Status check_ends(Plan& op, const TensorArg& x, const std::optional<TensorArg>& bias, const TensorArg& y, u32 columns) {
  REQUIRE(op, x.rank() >= 1 && is_float(x.dtype()) && is_float(y.dtype()),
          "input and result must be floating-point with at least one axis, not ", x.dtype(), " ", x.shape(), " and ",
          y.dtype());
  REQUIRE(op, !bias || (bias->numel() >= columns && is_float(bias->dtype())), "a bias of ",
          bias ? bias->shape() : Shape(), " does not fit ", columns, " columns");
  return check_depth(op, x);
}

// x with its last axis replaced.
Shape linear_shape(const TensorArg& x, u32 columns) {
  Shape shape = x.shape();
  shape[shape.rank() - 1] = columns;
  return shape;
}

GroupedWeight read_weight(Plan& op, u32 weight, u32 scales, u32 group) {
  return {op.tensor(weight), op.tensor(scales), u32(std::clamp<i64>(op.integer(group), 0, UINT32_MAX))};
}

}  // namespace

Status check_depth(Plan& op, const TensorArg& x) {
  REQUIRE_LIVE(op, x.dim(-1) == x.max().dim(-1), "rows have ", x.dim(-1), " elements, but the weight is for ",
               x.max().dim(-1));
  return {};
}

Status check_weight(Plan& op, const GroupedWeight& w, u32 depth) {
  REQUIRE(op, w.bytes.rank() == 2 && w.scales.rank() == 2, "weight ", w.bytes.shape(), " and scales ", w.scales.shape(),
          " must have two axes");
  REQUIRE(op, w.bytes.dtype() == DType::u8, "the weight must be uint8, not ", w.bytes.dtype());
  REQUIRE(op, is_float(w.scales.dtype()), "the scales must be floating-point, not ", w.scales.dtype());
  REQUIRE(op, w.row_bytes() >= ceil_div(depth, 2), "weight rows of ", w.row_bytes(), " bytes don't hold ", depth,
          " 4-bit values");
  REQUIRE(op, w.group > 0, "the group size is ", w.group, "; it must be at least 1");
  REQUIRE(op, w.scales.dim(0) >= ceil_div(depth, w.group) && w.scales.dim(1) >= w.columns(), "scales ",
          w.scales.shape(), " don't fit ", w.columns(), " columns of ", depth, " in groups of ", w.group);
  return {};
}

Status linear_grouped(Plan& op, const TensorArg& x, const GroupedWeight& w, const std::optional<TensorArg>& bias,
                      const TensorArg& y) {
  const u32 depth = x.dim(-1);
  Gemm gemm(op, Gemm::floats);
  gemm.params.rows = u32(y.rows());
  gemm.params.columns = w.columns();
  gemm.params.a_row = depth;
  gemm.bind("a", x);
  gemm.dense_a(depth_quads(depth));
  set_columns(gemm, w, depth);
  gemm.bind_if("bias", bias);
  return gemm.run(y);
}

namespace {

// et_vk.linear_dq8ca_q4gsw(x[.., K], row scales [M], row zeros i8[M], weight, weight sums, scales, group, bias?, out):
// rows of x are quantised to int8 on the way. The sums of the weights would only shorten the arithmetic.
Status linear_dynamic(Plan& op) {
  const TensorArg x = op.tensor(0), row_scales = op.tensor(1), row_zeros = op.tensor(2), y = op.last_output();
  const auto bias = op.maybe_tensor(7);
  const GroupedWeight w = read_weight(op, 3, 5, 6);
  const u32 depth = x.dim(-1);
  TRY_DO(check_weight(op, w, depth));
  TRY_DO(check_ends(op, x, bias, y, w.columns()));
  TRY_DO(op.resize(y, linear_shape(x, w.columns())));
  if (y.numel() == 0) return {};
  const u32 rows = u32(y.rows());
  REQUIRE(op, is_float(row_scales.dtype()) && !is_float(row_zeros.dtype()), "the rows' scales are ", row_scales.dtype(),
          " and their zero points ", row_zeros.dtype(), "; floats and integers are needed");
  REQUIRE_LIVE(op, row_scales.numel() >= rows && row_zeros.numel() >= rows, "scales ", row_scales.shape(),
               " and zero points ", row_zeros.shape(), " don't fit ", rows, " rows");
  Gemm gemm(op, Gemm::floats);
  gemm.params.rows = rows;
  gemm.params.columns = w.columns();
  gemm.params.a_row = depth;
  gemm.bind("a", x);
  gemm.bind("row_scale", row_scales);
  gemm.bind("row_zero", row_zeros);
  gemm.flag("A_QUADS", depth % 4 == 0);
  gemm.use("a_dynamic");
  set_columns(gemm, w, depth);
  gemm.bind_if("bias", bias);
  return gemm.run(y);
}

// et_vk.linear_qcs4w(x[.., K], weight u8[N, ⌈K/2⌉] with the first of two values in the high half, scales [N], out)
Status linear_channels(Plan& op) {
  const TensorArg x = op.tensor(0), w = op.tensor(1), scales = op.tensor(2), y = op.last_output();
  REQUIRE(op, w.rank() == 2 && w.dtype() == DType::u8, "the weight must be a matrix of uint8, not ", w.dtype(), " ",
          w.shape());
  const u32 depth = x.dim(-1), columns = w.dim(0);
  TRY_DO(check_ends(op, x, std::nullopt, y, columns));
  REQUIRE(op, w.dim(1) >= ceil_div(depth, 2), "weight rows of ", w.dim(1), " bytes don't hold ", depth,
          " 4-bit values");
  REQUIRE(op, scales.numel() >= columns && is_float(scales.dtype()), "scales ", scales.shape(), " don't fit ", columns,
          " columns");
  TRY_DO(op.resize(y, linear_shape(x, columns)));
  if (y.numel() == 0) return {};
  Gemm gemm(op, Gemm::floats);
  gemm.params.rows = u32(y.rows());
  gemm.params.columns = columns;
  gemm.params.depth = gemm.params.a_row = depth;
  gemm.params.b_column = w.dim(1);
  gemm.bind("a", x);
  gemm.dense_a(depth_quads(depth));
  gemm.bind_weight(w, w.dim(1));
  gemm.bind("scale", scales);
  set_bytes(gemm, w, true);
  gemm.flag("B_GROUPED", false);
  gemm.flag("B_SECTIONS", false);
  gemm.use("b_no_group_scales");
  gemm.use("b_nibbles");
  return gemm.run(y);
}

// et_vk.linear_q4gsw_backward(dy[.., N], weight u8[N, Kp/2], scales [G, padN], group, dx[.., K]): dy · weight. K is
// what the result says; the exporter gives it the padded length.
Status linear_backward(Plan& op) {
  const TensorArg dy = op.tensor(0), dx = op.last_output();
  const GroupedWeight w = read_weight(op, 1, 2, 3);
  REQUIRE(op, dx.max().rank() == dy.rank(), "the gradient ", dy.shape(), " and the result ", dx.max(),
          " must have the same number of axes");
  const u32 columns = dx.max().dim(-1), depth = dy.dim(-1);
  TRY_DO(check_weight(op, w, columns));
  TRY_DO(check_ends(op, dy, std::nullopt, dx, columns));
  REQUIRE(op, depth == w.columns(), "a gradient with rows of ", depth, " does not fit ", w.columns(), " weight rows");
  TRY_DO(op.resize(dx, linear_shape(dy, columns)));
  if (dx.numel() == 0) return {};
  Gemm gemm(op, Gemm::floats);
  GemmParams& g = gemm.params;
  g.rows = u32(dx.rows());
  g.columns = columns;
  g.depth = g.a_row = depth;
  g.b_step = w.row_bytes();
  g.group = w.group;
  g.scale_stride = w.scales.dim(1);
  gemm.bind("a", dy);
  gemm.dense_a(depth_quads(depth));
  gemm.bind("b", w.bytes);
  gemm.bind("b_scale", w.scales);
  set_bytes(gemm, w.bytes, false);
  gemm.use("b_nibbles_across");
  return gemm.run(dx);
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"et_vk.linear_dq8ca_q4gsw.default", linear_dynamic,
     "x, row_scales, row_zeros, weight, shape sums, scales, group: int, bias? -> out"_sig, lanewise},
    {"et_vk.linear_qcs4w.default", linear_channels, "x, weight, scales -> out"_sig, lanewise},
    {"et_vk.linear_q4gsw_backward.default", linear_backward, "dy, weight, scales, group: int -> dx"_sig, lanewise},
};
extern const OpList linear_nibbles_ops = entries;

}  // namespace pteron::ops
