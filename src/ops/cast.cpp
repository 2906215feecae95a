// SPDX-License-Identifier: BSD-3-Clause
// Conversions. The file does not say the target type: it is the result's.
#include "ops/elementwise.h"

namespace pteron::ops {
namespace {

// _to_copy(x, …, out)
Status cast(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  if (x.dtype() == y.dtype()) {
    TRY_DO(op.resize(y, x.shape()));
    return copy(op, x, y);
  }
  if (y.dtype() == DType::boolean) return elementwise(op, std::array{x}, y, "truth(a)");
  const bool truncates = is_float(x.dtype()) && !is_float(y.dtype());
  return elementwise(op, std::array{x}, y, truncates ? "to_integer(a)" : "a");
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten._to_copy.default", cast, {}, true},
    {"dim_order_ops._to_dim_order_copy.default", cast, {}, true},
};
extern const OpList cast_ops = entries;

}  // namespace pteron::ops
