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

// The result, or nothing if it does not fit in 64 bits.
using Arithmetic = std::optional<i64> (*)(i64 a, i64 b);

std::optional<i64> add(i64 a, i64 b) {
  i64 sum;
  return __builtin_add_overflow(a, b, &sum) ? std::nullopt : std::optional(sum);
}
std::optional<i64> sub(i64 a, i64 b) {
  i64 difference;
  return __builtin_sub_overflow(a, b, &difference) ? std::nullopt : std::optional(difference);
}
std::optional<i64> mul(i64 a, i64 b) {
  i64 product;
  return __builtin_mul_overflow(a, b, &product) ? std::nullopt : std::optional(product);
}
// Rounds towards −∞.
std::optional<i64> floordiv(i64 a, i64 b) {
  if (b == -1) return sub(0, a);
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}
std::optional<i64> lt(i64 a, i64 b) { return a < b; }
std::optional<i64> le(i64 a, i64 b) { return a <= b; }
std::optional<i64> gt(i64 a, i64 b) { return a > b; }
std::optional<i64> ge(i64 a, i64 b) { return a >= b; }
std::optional<i64> eq(i64 a, i64 b) { return a == b; }

// op(a, b, out)
template <Arithmetic compute>
Status calculate(Plan& op) {
  const i64 a = op.integer(0), b = op.integer(1);
  const bool divides_by_0 = compute == floordiv && b == 0;
  REQUIRE_LIVE(op, !divides_by_0, a, " is divided by 0");
  const std::optional<i64> result = divides_by_0 ? 0 : compute(a, b);
  REQUIRE_LIVE(op, result, op.entry().name, " of ", a, " and ", b, " does not fit in 64 bits");
  op.set_symint(2, result.value_or(0));
  return {};
}

template <Arithmetic compute>
constexpr OpFamily of{calculate<compute>, "a: int, b: int -> out: symint"_sig};

}  // namespace

static constexpr OpEntry entries[] = {
    {"sym_size.int", sym_size, "shape x, axis: int -> out: symint"_sig},
    {"et_vk.select_as_symint.default", select_as_symint, "host x, axis: int, index: int -> out: symint"_sig},
    {"add", of<add>},
    {"sub", of<sub>},
    {"mul", of<mul>},
    {"floordiv", of<floordiv>},
    {"lt", of<lt>},
    {"le", of<le>},
    {"gt", of<gt>},
    {"ge", of<ge>},
    {"eq", of<eq>},
};
extern const OpList symint_ops = entries;

}  // namespace pteron::ops
