// SPDX-License-Identifier: BSD-3-Clause
// Distances between rows.
#include "ops/common.h"

#include <cmath>

namespace pteron::ops {
namespace {

struct Params {
  u32 count, a_rows, b_rows, width;
  f32 power;
};

// As in distance.wgsl.
u32 norm_of(f64 power) {
  if (power == 0 || power == 1 || power == 2) return u32(power);
  return std::isinf(power) ? 3 : 4;
}

Status distances(Plan& op, const TensorArg& a, const TensorArg& b, const TensorArg& y, f64 power, bool pairs) {
  REQUIRE(op, is_float(a.dtype()) && is_float(b.dtype()) && is_float(y.dtype()),
          "distances need floating-point tensors, not ", a.dtype(), " and ", b.dtype());
  REQUIRE(op, power >= 0, "the power is ", power, "; it must not be negative");
  REQUIRE_SUPPORTED(op, a.max().dim(-1) <= max_rounds(op.device()), "rows of ", a.max().dim(-1),
                    " elements are too long for a software adapter; use a GPU");
  if (y.numel() == 0) return {};
  REQUIRE_SUPPORTED(op, !pairs || a.max().dim(0) <= UINT16_MAX, "pairs of ", a.max().dim(0),
                    " rows are too many; at most ", UINT16_MAX, " rows are supported");
  const Spec spec = Spec()
                        .flag("PAIRS", pairs)
                        .num("NORM", norm_of(power))
                        .input("a", a.dtype())
                        .input("b", b.dtype())
                        .output("y", y.dtype());
  return op.dispatch({kernels::distance, spec}, {a, b, y},
                     Params{u32(y.numel()), a.dim(-2), b.dim(-2), a.dim(-1), f32(power)},
                     one_thread_per(y.numel(), 64));
}

// _cdist_forward(a[.., P, M], b[.., R, M], p, mode?, out[.., P, R])
Status cdist(Plan& op) {
  const TensorArg a = op.tensor(0), b = op.tensor(1), y = op.last_output();
  REQUIRE(op, a.rank() >= 2 && a.rank() == b.rank(), "two tensors of rows are needed, not ", a.shape(), " and ",
          b.shape());
  const u32 last = a.rank() - 1;
  Shape shape = a.shape();
  for (u32 i = 0; i + 1 < last; ++i)
    REQUIRE_LIVE(op, a.shape()[i] == b.shape()[i], "the batches of ", a.shape(), " and ", b.shape(), " differ");
  REQUIRE_LIVE(op, a.dim(-1) == b.dim(-1), "rows of ", a.shape(), " and ", b.shape(), " have different lengths");
  shape[last] = b.dim(-2);
  TRY_DO(op.resize(y, shape));
  return distances(op, a, b, y, op.number(2), false);
}

// _pdist_forward(x[N, M], p, out[N · (N − 1) / 2])
Status pdist(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  REQUIRE(op, x.rank() == 2, "a matrix is needed, not ", x.shape());
  const u64 rows = x.dim(0);
  TRY_DO(op.resize(y, {u32(rows == 0 ? 0 : rows * (rows - 1) / 2)}));
  return distances(op, x, x, y, op.number(1), true);
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten._cdist_forward.default", cdist, "a, b, p: number, mode: any -> out"_sig},
    {"aten._pdist_forward.default", pdist, "x, p: number = 2 -> out"_sig},
};
extern const OpList distance_ops = entries;

}  // namespace pteron::ops
