// SPDX-License-Identifier: BSD-3-Clause
#include "ops/rows.h"

#include <limits>

namespace pteron::ops {
namespace {

struct Params {
  RowParams rows;
  f32 nan;
};

// op(x, axis, half_to_float, out)
Status softmax(Plan& op, bool log) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const u32 axis = op.axis(1, x.rank());
  REQUIRE(op, is_float(x.dtype()) && is_float(y.dtype()), "softmax needs floating-point tensors, not ", x.dtype());
  TRY_DO(op.resize(y, x.shape()));
  if (y.numel() == 0) return {};
  TRY(const Rows rows, Rows::over(op, x, 1u << axis, {.reductions = 2, .writes = 1}));
  Spec spec;
  spec.flag("LOG", log).input("x", x.dtype()).output("y", y.dtype());
  rows.specialise(spec);
  return op.dispatch({kernels::softmax, spec}, {x, y}, Params{rows.params(), std::numeric_limits<f32>::quiet_NaN()},
                     rows.grid());
}

Status plain(Plan& op) { return softmax(op, false); }
Status logarithmic(Plan& op) { return softmax(op, true); }

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten._softmax.default", plain, "x, axis: int, half_to_float: any -> out"_sig},
    {"aten._log_softmax.default", logarithmic, "x, axis: int, half_to_float: any -> out"_sig},
};
extern const OpList softmax_ops = entries;

}  // namespace pteron::ops
