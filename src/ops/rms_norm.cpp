// SPDX-License-Identifier: BSD-3-Clause
#include "ops/rms_norm.h"

#include <cfloat>

namespace pteron::ops {
namespace {

struct Params {
  u32 rows, width;
  f32 eps;
};

Status normalise(Plan& op, const TensorArg& x, const TensorArg& w, const Operand& y, DType y_type, f32 eps) {
  if (x.numel() == 0) return {};
  const u32 width = x.dim(-1), rows = u32(x.numel() / width);
  return op.dispatch({kernels::rms_norm, Spec().input("x", x.dtype()).input("w", w.dtype()).output("y", y_type)},
                     {x, w, y}, Params{rows, width, eps}, one_group_per(rows));
}

// et_vk.rms_norm(x, weight, eps, out)
Status rms_norm_op(Plan& op) {
  const TensorArg x = op.tensor(0), w = op.tensor(1), y = op.output(3);
  REQUIRE(op, x.rank() >= 1, "the input must have at least one axis");
  REQUIRE(op, w.numel() == x.dim(-1), "the weight has ", w.numel(), " elements, but rows of ", x.shape(), " have ",
          x.dim(-1));
  REQUIRE(op, is_float(x.dtype()) && is_float(w.dtype()) && is_float(y.dtype()),
          "only floating-point tensors can be normalised, not ", x.dtype());
  TRY_DO(op.resize(y, x.shape()));
  return normalise(op, x, w, y, y.dtype(), f32(op.number_or(2, FLT_EPSILON)));
}

}  // namespace

Status rms_norm(Plan& op, const TensorArg& x, const TensorArg& weight, const Operand& y, f32 eps) {
  return normalise(op, x, weight, y, DType::f32, eps);
}

static constexpr OpEntry entries[] = {{"et_vk.rms_norm.default", rms_norm_op}};
extern const OpList rms_norm_ops = entries;

}  // namespace pteron::ops
