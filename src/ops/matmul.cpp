// SPDX-License-Identifier: BSD-3-Clause
// Products of dense matrices.
#include "ops/gemm.h"

#include <cmath>

namespace pteron::ops {
namespace {

Status require_floats(Plan& op, std::initializer_list<TensorArg> tensors) {
  for (const TensorArg& t : tensors)
    REQUIRE_SUPPORTED(op, is_float(t.dtype()), "a matrix product of ", t.dtype(), " values is not supported");
  return {};
}

// Sums of integers are exact, modulo what the result's type holds.
Result<Gemm::Sums> sums_of(Plan& op, const TensorArg& a, const TensorArg& b, const TensorArg& y) {
  if (is_float(a.dtype())) {
    TRY_DO(require_floats(op, {a, b, y}));
    return Gemm::floats;
  }
  REQUIRE_SUPPORTED(op, a.dtype() != DType::boolean && a.dtype() == b.dtype() && a.dtype() == y.dtype(),
                    "a matrix product of ", a.dtype(), " and ", b.dtype(), " values is not supported");
  return Gemm::integers;
}

// What is added to a product of integers, and the factors, which kernels take as floats.
Status require_whole(Plan& op, const TensorArg& self, const TensorArg& y, std::initializer_list<f64> factors) {
  constexpr f64 most = 1 << 24;
  REQUIRE_SUPPORTED(op, self.dtype() == y.dtype(), "adding ", self.dtype(), " to a product of ", y.dtype(),
                    " values is not supported");
  for (const f64 factor : factors)
    REQUIRE_SUPPORTED(op, factor == std::trunc(factor) && std::abs(factor) <= most,
                      "products of integers can't be scaled by ", factor, "; whole numbers up to ", most,
                      " are supported");
  return {};
}

// a[B, M, K] · b[B, K, N] with strides for row-major tensors.
void multiply(Gemm& gemm, Plan& op, const TensorArg& a, const TensorArg& b) {
  GemmParams& g = gemm.params;
  g.batches = g.a_batches = a.rank() == 3 ? a.dim(0) : 1;
  g.rows = a.dim(-2);
  g.depth = a.dim(-1);
  g.columns = b.dim(-1);
  g.a_batch = g.rows * g.depth;
  g.a_row = g.depth;
  g.b_batch = g.depth * g.columns;
  g.b_column = 1;
  g.b_step = g.columns;
  gemm.bind("a", a);
  gemm.bind("b", b);
  gemm.dense_a(in_fours(op, g.depth, op.shape_is_fixed(a) || op.shape_is_fixed(b)) ? Gemm::along_depth : Gemm::none);
  gemm.dense_b(in_fours(op, g.columns, op.shape_is_fixed(b)) ? Gemm::along_columns : Gemm::none);
}

// mm(a[M, K], b[K, N], out)
Status mm(Plan& op) {
  const TensorArg a = op.tensor(0), b = op.tensor(1), y = op.last_output();
  TRY(const Gemm::Sums sums, sums_of(op, a, b, y));
  REQUIRE(op, a.rank() == 2 && b.rank() == 2, "a matrix product needs two matrices, not ", a.shape(), " and ",
          b.shape());
  REQUIRE_LIVE(op, a.dim(1) == b.dim(0), "matrices ", a.shape(), " and ", b.shape(), " can't be multiplied");
  TRY_DO(op.resize(y, {a.dim(0), b.dim(1)}));
  if (y.numel() == 0) return {};
  Gemm gemm(op, sums);
  multiply(gemm, op, a, b);
  if (sums == Gemm::integers) gemm.keep_sums();
  return gemm.run(y);
}

// bmm(a[B, M, K], b[B, K, N], out)
Status bmm(Plan& op) {
  const TensorArg a = op.tensor(0), b = op.tensor(1), y = op.last_output();
  TRY(const Gemm::Sums sums, sums_of(op, a, b, y));
  REQUIRE(op, a.rank() == 3 && b.rank() == 3, "a batched matrix product needs two tensors of rank 3, not ", a.shape(),
          " and ", b.shape());
  REQUIRE_LIVE(op, a.dim(0) == b.dim(0) && a.dim(2) == b.dim(1), "matrices ", a.shape(), " and ", b.shape(),
               " can't be multiplied");
  TRY_DO(op.resize(y, {a.dim(0), a.dim(1), b.dim(2)}));
  if (y.numel() == 0) return {};
  Gemm gemm(op, sums);
  multiply(gemm, op, a, b);
  if (sums == Gemm::integers) gemm.keep_sums();
  return gemm.run(y);
}

// addmm(self, a[M, K], b[K, N], beta, alpha, out): beta · self + alpha · a · b, where self broadcasts to [M, N].
Status addmm(Plan& op) {
  const TensorArg self = op.tensor(0), a = op.tensor(1), b = op.tensor(2), y = op.last_output();
  const f64 beta = op.number(3), alpha = op.number(4);
  TRY(const Gemm::Sums sums, sums_of(op, a, b, y));
  TRY_DO(sums == Gemm::floats ? require_floats(op, {self}) : require_whole(op, self, y, {beta, alpha}));
  REQUIRE(op, a.rank() == 2 && b.rank() == 2 && self.rank() <= 2,
          "addmm needs two matrices and up to two axes to add, not ", a.shape(), ", ", b.shape(), " and ",
          self.shape());
  const u32 rows = a.dim(0), columns = b.dim(1), self_rows = self.dim(-2), self_columns = self.dim(-1);
  REQUIRE_LIVE(op, a.dim(1) == b.dim(0), "matrices ", a.shape(), " and ", b.shape(), " can't be multiplied");
  REQUIRE_LIVE(op, (self_rows == 1 || self_rows == rows) && (self_columns == 1 || self_columns == columns),
               "the added tensor ", self.shape(), " can't be broadcast to ", Shape{rows, columns});
  TRY_DO(op.resize(y, {rows, columns}));
  if (y.numel() == 0) return {};
  Gemm gemm(op, sums);
  if (sums == Gemm::integers) gemm.keep_sums();
  multiply(gemm, op, a, b);
  gemm.params.factor = f32(alpha);
  if (beta != 0) {  // torch does not look at self otherwise, be it NaN
    gemm.bind("addend", self);
    gemm.params.beta = f32(beta);
    gemm.params.addend_row = self_rows == 1 ? 0 : self_columns;
    gemm.params.addend_column = self_columns == 1 ? 0 : 1;
  }
  return gemm.run(y);
}

// linear(x[.., K], weight[N, K], bias[N]?, out[.., N])
Status linear(Plan& op) {
  const TensorArg x = op.tensor(0), w = op.tensor(1), y = op.last_output();
  const auto bias = op.maybe_tensor(2);
  TRY_DO(require_floats(op, {x, w, bias.value_or(w), y}));
  REQUIRE(op, x.rank() >= 1 && w.rank() == 2,
          "a linear layer needs a matrix of weights and an input with at least one "
          "axis, not ",
          w.shape(), " and ", x.shape());
  const u32 columns = w.dim(0), depth = w.dim(1);
  REQUIRE_LIVE(op, x.dim(-1) == depth, "rows of ", x.dim(-1), " can't be multiplied with weights ", w.shape());
  REQUIRE(op, !bias || bias->numel() >= columns, "the bias has ", bias ? bias->numel() : 0, " elements for ", columns,
          " columns");
  Shape shape = x.shape();
  shape[shape.rank() - 1] = columns;
  TRY_DO(op.resize(y, shape));
  if (y.numel() == 0) return {};
  Gemm gemm(op, Gemm::floats);
  const auto quads = in_fours(op, depth, op.shape_is_fixed(w)) ? Gemm::along_depth : Gemm::none;
  gemm.params.rows = u32(y.rows());
  gemm.params.columns = columns;
  gemm.params.depth = gemm.params.a_row = gemm.params.b_column = depth;
  gemm.params.b_step = 1;
  gemm.bind("a", x);
  gemm.bind_weight(w, u64(depth) * size_of(w.dtype()));
  gemm.bind_if("bias", bias);
  gemm.dense_a(quads);
  gemm.dense_b(quads);
  return gemm.run(y);
}

// et_vk.linear_dW(dy[.., N], x[.., K], out[N, K]): the gradient of a linear layer's weight, dyᵀ · x.
Status weight_gradient(Plan& op) {
  const TensorArg dy = op.tensor(0), x = op.tensor(1), y = op.last_output();
  TRY_DO(require_floats(op, {dy, x, y}));
  REQUIRE(op, dy.rank() >= 1 && x.rank() >= 1, "gradient ", dy.shape(), " and input ", x.shape(),
          " must have at least one axis");
  const u32 rows = dy.dim(-1), columns = x.dim(-1);
  const u64 depth = dy.rows();
  REQUIRE_LIVE(op, x.rows() == depth, "the gradient ", dy.shape(), " and the input ", x.shape(),
               " have different numbers of rows");
  TRY_DO(op.resize(y, {rows, columns}));
  if (y.numel() == 0) return {};
  Gemm gemm(op, Gemm::floats);
  gemm.params.rows = gemm.params.a_step = rows;
  gemm.params.columns = gemm.params.b_step = columns;
  gemm.params.depth = u32(depth);
  gemm.params.a_row = gemm.params.b_column = 1;
  gemm.bind("a", dy);
  gemm.bind("b", x);
  gemm.dense_a(Gemm::none);
  gemm.dense_b(in_fours(op, columns, false) ? Gemm::along_columns : Gemm::none);
  return gemm.run(y);
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.mm.default", mm, "a, b -> out"_sig},
    {"aten.bmm.default", bmm, "a, b -> out"_sig},
    {"aten.addmm.default", addmm, "self, a, b, beta: number = 1, alpha: number = 1 -> out"_sig},
    {"aten.linear.default", linear, "x, weight, bias? -> out"_sig, lanewise},
    {"et_vk.linear_dW.default", weight_gradient, "dy, x -> out"_sig},
};
extern const OpList matmul_ops = entries;

}  // namespace pteron::ops
