// SPDX-License-Identifier: BSD-3-Clause
// What fine-tuning needs beyond the forward ops: a loss with its gradient, an optimiser's step, new 4-bit weights.
#include "ops/common.h"

namespace pteron::ops {
namespace {

struct AdamwParams {
  u32 count;
  f32 rate, beta1, beta2, eps, keep, correction1, correction2, gain1, gain2;
};

// et_vk.adamw_step(param, m, v, grad, rate, beta1, beta2, eps, weight decay, correction1, correction2, [param, m, v])
Status adamw(Plan& op) {
  const TensorArg updated[] = {op.tensor(0), op.tensor(1), op.tensor(2)};
  const TensorArg grad = op.tensor(3);
  for (const TensorArg& t : updated) {
    REQUIRE(op, is_float(t.dtype()) && is_float(grad.dtype()), "an optimiser's step of ", t.dtype(),
            " values is not supported");
    REQUIRE_LIVE(op, t.shape() == grad.shape(), "a tensor of shape ", t.shape(), " has a gradient of shape ",
                 grad.shape());
  }
  const f64 rate = op.number(4), beta1 = op.number(5), beta2 = op.number(6), decay = op.number(8);
  const AdamwParams params{.count = u32(grad.numel()),
                           .rate = f32(rate),
                           .beta1 = f32(beta1),
                           .beta2 = f32(beta2),
                           .eps = f32(op.number(7)),
                           .keep = f32(1.0 - rate * decay),
                           .correction1 = f32(op.number(9)),
                           .correction2 = f32(op.number(10)),
                           .gain1 = f32(1.0 - beta1),
                           .gain2 = f32(1.0 - beta2)};
  REQUIRE(op, params.correction1 != 0 && params.correction2 != 0, "a bias correction of 0 can't be divided by");
  if (grad.numel() > 0) {
    const Spec spec = Spec()
                          .input("value", updated[0].dtype())
                          .input("m", updated[1].dtype())
                          .input("v", updated[2].dtype())
                          .input("grad", grad.dtype());
    TRY_DO(op.dispatch({kernels::adamw, spec}, {updated[0], updated[1], updated[2], grad}, params,
                       one_thread_per(grad.numel(), 64)));
  }
  for (u32 i = 0; i < std::size(updated); ++i)
    if (const auto y = op.updated_output(11, i, updated[i])) {
      TRY_DO(op.resize(*y, updated[i].shape()));
      TRY_DO(copy(op, updated[i], *y));
    }
  return {};
}

struct LossParams {
  u32 rows, width;
  f32 inverse_count;
  u32 fault;
};

// et_vk.fused_ce(logits [N, V], labels [N], number of rows that count, [loss, dlogits])
Status cross_entropy(Plan& op) {
  const TensorArg x = op.tensor(0), labels = op.tensor(1), loss = op.list_output(3, 0), dx = op.list_output(3, 1);
  const f64 count = op.number(2);
  REQUIRE(op, x.rank() == 2 && is_float(x.dtype()) && is_float(loss.dtype()) && is_float(dx.dtype()),
          "logits must be a matrix of floating-point numbers, not ", x.dtype(), " ", x.shape());
  REQUIRE(op, labels.dtype() == DType::i32, "labels must be integers, not ", labels.dtype());
  REQUIRE_LIVE(op, labels.numel() == x.dim(0), "there are ", labels.numel(), " labels for ", x.dim(0), " rows");
  TRY_DO(op.resize(loss, {}));
  TRY_DO(op.resize(dx, x.shape()));
  const u32 rows = x.dim(0), width = x.dim(1);
  REQUIRE(op, width > 0, "logits of shape ", x.shape(), " have no classes");
  const Operand losses = op.scratch(x.max().dim(0) * sizeof(f32));
  if (rows > 0) {
    const LossParams params{rows, width, f32(1.0 / count), op.fault_slot("label", width)};
    TRY_DO(op.dispatch({kernels::cross_entropy, Spec().input("x", x.dtype()).output("dx", dx.dtype())},
                       {x, labels, losses, dx, op.fault()}, params, one_group_per(rows)));
  }
  return op.dispatch({kernels::sum_all, Spec().output("y", loss.dtype())}, {losses, loss}, rows, one_group_per(1));
}

struct RequantizeParams {
  u32 bytes, row_bytes, depth, group, scale_stride;
};

// et_vk.q4gsw_requant(latent [N, K], scales [G, padN], group, out u8[N, ⌈K/2⌉])
Status requantize_q4(Plan& op) {
  const TensorArg x = op.tensor(0), scales = op.tensor(1), y = op.last_output();
  const i64 group = op.integer(2);
  REQUIRE(op, x.rank() == 2 && scales.rank() == 2 && is_float(x.dtype()) && is_float(scales.dtype()), "weights ",
          x.shape(), " and scales ", scales.shape(), " must be matrices of floating-point numbers");
  REQUIRE(op, y.dtype() == DType::u8, "the result must be uint8, not ", y.dtype());
  const u32 rows = x.dim(0), depth = x.dim(1), row_bytes = ceil_div(depth, 2);
  REQUIRE(op, group > 0 && group <= i64(UINT32_MAX), "the group size is ", group, "; it must be at least 1");
  REQUIRE(op, scales.dim(0) >= ceil_div(depth, u32(group)) && scales.dim(1) >= rows, "scales ", scales.shape(),
          " don't fit ", x.shape(), " in groups of ", group);
  TRY_DO(op.resize(y, {rows, row_bytes}));
  if (y.numel() == 0) return {};
  return op.dispatch({kernels::requantize_q4, Spec().input("x", x.dtype()).input("scales", scales.dtype())},
                     {x, scales, y}, RequantizeParams{u32(y.numel()), row_bytes, depth, u32(group), scales.dim(1)},
                     one_thread_per_unit(y, 64));
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"et_vk.adamw_step.default", adamw,
     "inout param, inout m, inout v, grad, rate: number, beta1: number, beta2: number, eps: number, decay: number, "
     "correction1: number, correction2: number -> [param, m, v]"_sig},
    {"et_vk.fused_ce.default", cross_entropy, "logits, labels, count: number -> [loss, dlogits]"_sig},
    {"et_vk.q4gsw_requant.default", requantize_q4, "latent, scales, group: int -> out"_sig},
};
extern const OpList training_ops = entries;

}  // namespace pteron::ops
