// SPDX-License-Identifier: BSD-3-Clause
// Conversions. The file does not say the target type: it is the result's.
#include "ops/elementwise.h"

namespace pteron::ops {
namespace {

std::string_view conversion(DType from, DType to) {
  if (to == DType::boolean) return "truth(a)";
  return is_float(from) && !is_float(to) ? "to_integer(a)" : "a";
}

// _to_copy(x, …, out)
Status cast(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  if (x.dtype() != y.dtype()) return elementwise(op, std::array{x}, y, conversion(x.dtype(), y.dtype()));
  TRY_DO(op.resize(y, x.shape()));
  return copy(op, x, y);
}

// copy(target, x, non_blocking, out): x in the target's type and shape.
Status copy_into(Plan& op) {
  const TensorArg target = op.tensor(0), x = op.tensor(1), y = op.last_output();
  TRY(const Shape shape, broadcast(x.shape(), target.shape()));
  REQUIRE_LIVE(op, shape == target.shape(), "the source is ", x.shape(), ", but the target is ", target.shape());
  return elementwise(op, std::array{x, target}, y, conversion(x.dtype(), y.dtype()));
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten._to_copy.default", cast, "x, ... -> out"_sig, copies | lanewise},
    {"aten.copy.default", copy_into, "target, x, non_blocking: flag = false -> out"_sig},
    {"dim_order_ops._to_dim_order_copy.default", cast, "x, ... -> out"_sig, copies | lanewise},
};
extern const OpList cast_ops = entries;

}  // namespace pteron::ops
