// SPDX-License-Identifier: BSD-3-Clause
#include "ops/rows.h"

namespace pteron::ops {
namespace {

// op(x, axis, half_to_float, out)
Status softmax(Plan& op, bool log) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const u32 axis = op.axis(1, x.rank());
  REQUIRE(op, is_float(x.dtype()) && is_float(y.dtype()), "softmax needs floating-point tensors, not ", x.dtype());
  TRY_DO(op.resize(y, x.shape()));
  if (y.numel() == 0) return {};
  const Rows rows(op, x, 1u << axis);
  Spec spec;
  spec.flag("LOG", log).input("x", x.dtype()).output("y", y.dtype());
  rows.specialise(spec);
  return op.dispatch({kernels::softmax, spec}, {x, y}, rows.params(), rows.grid());
}

Status plain(Plan& op) { return softmax(op, false); }
Status logarithmic(Plan& op) { return softmax(op, true); }

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten._softmax.default", plain},
    {"aten._log_softmax.default", logarithmic},
};
extern const OpList softmax_ops = entries;

}  // namespace pteron::ops
