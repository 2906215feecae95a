// SPDX-License-Identifier: BSD-3-Clause
// Between which of some boundaries, which are in order, numbers lie.
#include "ops/common.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 count, boundaries;
};

// bucketize(x, boundaries, out_int32, right, out)
Status bucketize(Plan& op) {
  const TensorArg x = op.tensor(0), boundaries = op.tensor(1), y = op.last_output();
  REQUIRE(op, boundaries.rank() == 1, "the boundaries must have one axis, but they are ", boundaries.shape());
  REQUIRE(op, y.dtype() == DType::i32, "indices are integers, but the result is ", y.dtype());
  TRY_DO(op.resize(y, x.shape()));
  if (y.numel() == 0) return {};
  const bool floating = is_float(x.dtype()) || is_float(boundaries.dtype());
  const u32 count = u32(y.numel());
  const Spec spec = Spec()
                        .type("V", floating ? DType::f32 : DType::i32)
                        .flag("RIGHT", op.flag(3))
                        .input("x", x.dtype())
                        .input("boundaries", boundaries.dtype());
  return op.dispatch({kernels::bucketize, spec}, {x, boundaries, y}, Params{count, boundaries.dim(0)},
                     one_thread_per(count, 64));
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.bucketize.Tensor", bucketize, "x, boundaries, out_int32: flag = false, right: flag = false -> out"_sig,
     lanewise},
};
extern const OpList bucketize_ops = entries;

}  // namespace pteron::ops
