// SPDX-License-Identifier: BSD-3-Clause
// Linear layers with int8 weights [N, K] and a scale per column.
#include "ops/gemm.h"

namespace pteron::ops {
namespace {

struct Layer {
  TensorArg x, weight, scales;
  std::optional<TensorArg> bias;
  TensorArg y;
};

Status check_layer(Plan& op, const Layer& l, DType x) {
  REQUIRE(op, l.x.rank() >= 1 && l.weight.rank() == 2, "x ", l.x.shape(), " and weight ", l.weight.shape(),
          " have wrong ranks");
  REQUIRE(op, l.weight.dtype() == DType::i8, "the weight must be int8, not ", l.weight.dtype());
  REQUIRE(op, is_float(x) ? is_float(l.x.dtype()) : l.x.dtype() == x, "the input must be ", x, ", not ", l.x.dtype());
  const u32 columns = l.weight.dim(0);
  REQUIRE(op, l.x.dim(-1) == l.weight.dim(1), "rows of ", l.x.dim(-1), " can't be multiplied with weights ",
          l.weight.shape());
  REQUIRE(op, l.scales.numel() >= columns && is_float(l.scales.dtype()), "scales ", l.scales.shape(), " ",
          l.scales.dtype(), " don't fit ", columns, " columns");
  REQUIRE(op, !l.bias || (l.bias->numel() >= columns && is_float(l.bias->dtype())), "a bias of ",
          l.bias ? l.bias->shape() : Shape(), " does not fit ", columns, " columns");
  Shape shape = l.x.shape();
  shape[shape.rank() - 1] = columns;
  return op.resize(l.y, shape);
}

Status run_layer(Gemm& gemm, const Layer& l, bool centered) {
  const u32 columns = l.weight.dim(0), depth = l.weight.dim(1);
  const auto quads = depth % 4 == 0 ? Gemm::along_depth : Gemm::none;
  gemm.params.rows = u32(l.y.rows());
  gemm.params.columns = columns;
  gemm.params.depth = gemm.params.a_row = gemm.params.b_column = depth;
  gemm.params.b_step = 1;
  gemm.bind("a", l.x);
  gemm.bind_weight(l.weight, depth);
  gemm.dense_a(quads, centered);
  gemm.dense_b(quads);
  gemm.bind("scale", l.scales);
  gemm.bind_if("bias", l.bias);
  return gemm.run(l.y);
}

// aten._weight_int8pack_mm(x[M, K], weight i8[N, K], scales [N], out)
Status weight_only(Plan& op) {
  const Layer l{op.tensor(0), op.tensor(1), op.tensor(2), std::nullopt, op.last_output()};
  TRY_DO(check_layer(op, l, DType::f32));
  REQUIRE(op, is_float(l.y.dtype()), "the result must be floating-point, not ", l.y.dtype());
  if (l.y.numel() == 0) return {};
  Gemm gemm(op, Gemm::floats);
  return run_layer(gemm, l, false);
}

// et_vk.linear_q8ta_q8csw(x i8, x scale, x zero, weight, weight sums, scales, bias?, out)
Status static_input(Plan& op) {
  const Layer l{op.tensor(0), op.tensor(3), op.tensor(5), op.maybe_tensor(6), op.last_output()};
  TRY_DO(check_layer(op, l, DType::i8));
  REQUIRE(op, is_float(l.y.dtype()), "the result must be floating-point, not ", l.y.dtype());
  if (l.y.numel() == 0) return {};
  Gemm gemm(op, Gemm::integers);
  gemm.params.factor = f32(op.number(1));
  TRY(gemm.params.a_zero, zero_point(op, 2));
  return run_layer(gemm, l, true);
}

// et_vk.q8ta_linear(x i8, x scale, x zero, weight, weight sums, scales, y scale, y zero, bias?, activation, out i8)
Status static_both(Plan& op) {
  const Layer l{op.tensor(0), op.tensor(3), op.tensor(5), op.maybe_tensor(8), op.last_output()};
  TRY_DO(check_layer(op, l, DType::i8));
  REQUIRE(op, l.y.dtype() == DType::i8, "the result must be int8, not ", l.y.dtype());
  Gemm gemm(op, Gemm::integers);
  gemm.params.factor = f32(op.number(1));
  TRY(gemm.params.a_zero, zero_point(op, 2));
  TRY_DO(gemm.quantize(6, 7, 9));
  if (l.y.numel() == 0) return {};
  return run_layer(gemm, l, true);
}

constexpr OpFamily static_input_and_result{
    static_both,
    "x, x_scale: number, x_zero: int, weight, shape sums, scales, y_scale: number, y_zero: int, bias?, "
    "activation: text = none -> out"_sig,
    lanewise};

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten._weight_int8pack_mm.default", weight_only, "x, weight, scales -> out"_sig, lanewise},
    {"et_vk.linear_q8ta_q8csw.default", static_input,
     "x, x_scale: number, x_zero: int, weight, shape sums, scales, bias? -> out"_sig, lanewise},
    {"et_vk.q8ta_linear.default", static_input_and_result},
    {"et_vk.q8ta_linear_gemv.default", static_input_and_result},
};
extern const OpList linear_q8_ops = entries;

}  // namespace pteron::ops
