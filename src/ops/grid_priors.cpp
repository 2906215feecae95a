// SPDX-License-Identifier: BSD-3-Clause
#include "ops/common.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 count, width;
  f32 stride, offset;
};

// et_vk.grid_priors(x, stride, offset, out[H·W, 2]): only the shape of x matters.
Status grid_priors(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.output(3);
  REQUIRE(op, x.rank() >= 2, "the input must be [.., height, width], not ", x.shape());
  REQUIRE(op, is_float(y.dtype()), "the result must be floating-point, not ", y.dtype());
  const u64 points = u64(x.dim(-2)) * x.dim(-1);
  REQUIRE(op, points <= INT32_MAX, "a grid of ", x.dim(-2), " by ", x.dim(-1), " has too many points");
  TRY_DO(op.resize(y, {u32(points), 2}));
  if (y.numel() == 0) return {};
  return op.dispatch({kernels::grid_priors, Spec().output("y", y.dtype())}, {y},
                     Params{u32(y.numel()), x.dim(-1), f32(op.number(1)), f32(op.number(2))},
                     one_thread_per(y.numel(), 64));
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"et_vk.grid_priors.default", grid_priors, "shape x, stride: number, offset: number -> out"_sig},
};
extern const OpList grid_priors_ops = entries;

}  // namespace pteron::ops
