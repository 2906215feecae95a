// SPDX-License-Identifier: BSD-3-Clause
// Symbolic integers: plans that set a number and dispatch nothing.
#include "ops/common.h"

namespace pteron::ops {
namespace {

// sym_size.int(x, axis, out)
Status sym_size(Plan& op) {
  const TensorArg x = op.tensor(0);
  const u32 axis = op.axis(1, x.rank());
  op.set_symint(2, x.shape().dim(i32(axis)));
  return {};
}

// select_as_symint(x, axis, index, out): one element of a graph input, the first one along all other axes.
Status select_as_symint(Plan& op) {
  const TensorArg x = op.tensor(0);
  const u32 axis = op.axis(1, x.rank());
  const i64 size = x.shape().dim(i32(axis));
  i64 index = op.integer(2);
  REQUIRE_LIVE(op, index >= -size && index < size, "index ", index, " is out of range for axis ", axis, " of ",
               x.shape());
  if (index < 0) index += size;
  const u64 stride = x.rank() == 0 ? 1 : x.shape().product(axis + 1, x.rank());
  op.set_symint(3, op.host_element(x, u64(index) * stride));
  return {};
}

Status add(Plan& op) { return op.set_symint(2, op.integer(0) + op.integer(1)), Status(); }
Status sub(Plan& op) { return op.set_symint(2, op.integer(0) - op.integer(1)), Status(); }

Status mul(Plan& op) {
  i64 product = 0;
  const bool overflow = __builtin_mul_overflow(op.integer(0), op.integer(1), &product);
  REQUIRE_LIVE(op, !overflow, "the product of ", op.integer(0), " and ", op.integer(1), " does not fit in 64 bits");
  op.set_symint(2, product);
  return {};
}

// Rounds towards −∞.
Status floordiv(Plan& op) {
  const i64 a = op.integer(0), b = op.integer(1);
  REQUIRE_LIVE(op, b != 0, a, " is divided by 0");
  if (b == 0) return op.set_symint(2, 0), Status();  // not known yet
  op.set_symint(2, a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0));
  return {};
}

enum class Order { lt, le, gt, ge, eq };
template <Order order>
Status compare(Plan& op) {
  const i64 a = op.integer(0), b = op.integer(1);
  switch (order) {
    case Order::lt: op.set_symint(2, a < b); break;
    case Order::le: op.set_symint(2, a <= b); break;
    case Order::gt: op.set_symint(2, a > b); break;
    case Order::ge: op.set_symint(2, a >= b); break;
    case Order::eq: op.set_symint(2, a == b); break;
  }
  return {};
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"sym_size.int", sym_size},
    {"et_vk.select_as_symint.default", select_as_symint},
    {"add", add},
    {"sub", sub},
    {"mul", mul},
    {"floordiv", floordiv},
    {"lt", compare<Order::lt>},
    {"le", compare<Order::le>},
    {"gt", compare<Order::gt>},
    {"ge", compare<Order::ge>},
    {"eq", compare<Order::eq>},
};
extern const OpList symint_ops = entries;

}  // namespace pteron::ops
