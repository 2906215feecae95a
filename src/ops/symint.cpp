// SPDX-License-Identifier: BSD-3-Clause
// Symbolic integers: plans that set a number and dispatch nothing.
#include "ops/common.h"

#include <cmath>
#include <functional>

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

// sym_numel(x, out)
Status sym_numel(Plan& op) {
  const TensorArg x = op.tensor(0);
  op.set_symint(1, i64(std::min<u64>(x.numel(), INT64_MAX)));
  return {};
}

// sym_stride.int(x, axis, out): tensors are row-major.
Status sym_stride(Plan& op) {
  const TensorArg x = op.tensor(0);
  const u32 axis = op.axis(1, x.rank());
  op.set_symint(2, x.rank() == 0 ? 1 : i64(x.shape().product(axis + 1, x.rank())));
  return {};
}

// Of integers: the result, or nothing if it does not fit in 64 bits or is no integer. Of others: the result, not finite
// if there is none.
using OfIntegers = std::optional<i64> (*)(i64 a, i64 b);
using OfReals = f64 (*)(f64 a, f64 b);

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
// Has the sign of b.
std::optional<i64> mod(i64 a, i64 b) {
  const i64 rest = b == -1 ? 0 : a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
std::optional<i64> pow(i64 a, i64 b) {
  if (b < 0) return std::nullopt;
  if (a >= -1 && a <= 1) return a == -1 ? (b % 2 == 0 ? 1 : -1) : (b == 0 ? 1 : a);
  std::optional<i64> out = 1;
  for (; b > 0 && out; --b) out = mul(*out, a);
  return out;
}
std::optional<i64> min(i64 a, i64 b) { return std::min(a, b); }
std::optional<i64> max(i64 a, i64 b) { return std::max(a, b); }
std::optional<i64> no_integer(i64, i64) { return std::nullopt; }
f64 real_mod(f64 a, f64 b) {
  const f64 rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// What divides its first argument by the second.
constexpr bool divides(std::string_view name) { return name == "floordiv" || name == "mod" || name == "truediv"; }

// op(a, b, out)
template <OfIntegers integers, OfReals reals>
Status calculate(Plan& op) {
  const std::string_view name = op.entry().name;
  const f64 a = op.number(0), b = op.number(1);
  const auto whole_a = op.whole(0), whole_b = op.whole(1);
  const bool divides_by_0 = divides(name) && b == 0;
  REQUIRE_LIVE(op, !divides_by_0, a, " is divided by 0");
  const bool whole = whole_a && whole_b;
  const std::optional<i64> result = !whole || divides_by_0 ? std::nullopt : integers(*whole_a, *whole_b);
  if (result) {
    op.set_symint(2, *result);
    return {};
  }
  const bool has_fraction = !whole || name == "truediv" || (name == "pow" && b < 0);
  REQUIRE_LIVE(op, has_fraction, name, " of ", whole_a.value_or(0), " and ", whole_b.value_or(0),
               " does not fit in 64 bits");
  const f64 real = has_fraction && !divides_by_0 ? reals(a, b) : 0;
  REQUIRE_LIVE(op, std::isfinite(real), name, " of ", a, " and ", b, " is ", real);
  op.set_symreal(2, std::isfinite(real) ? real : 0);
  return {};
}

// op(a, out)
template <f64 (*compute)(f64)>
Status convert(Plan& op) {
  const f64 a = op.number(0), result = compute(a);
  REQUIRE_LIVE(op, std::isfinite(result), op.entry().name, " of ", a, " is ", result);
  op.set_symreal(1, std::isfinite(result) ? result : 0);
  return {};
}

// sym_sum(terms, out)
Status sym_sum(Plan& op) {
  const IntList terms = op.ints(0);
  std::optional<i64> sum = 0;
  for (u32 i = 0; i < terms.size() && sum; ++i) sum = add(*sum, terms[i]);
  REQUIRE_LIVE(op, sum, "the sum of ", terms.size(), " terms does not fit in 64 bits");
  op.set_symint(1, sum.value_or(0));
  return {};
}

// sym_ite(condition, a, b, out)
Status sym_ite(Plan& op) {
  const f64 a = op.number(1), b = op.number(2);  // both are read, so that a change of either is seen
  op.set_symreal(3, op.integer(0) != 0 ? a : b);
  return {};
}

template <OfIntegers integers, OfReals reals>
constexpr OpFamily of{calculate<integers, reals>, "a: number, b: number -> out: symint"_sig};
template <f64 (*compute)(f64)>
constexpr OpFamily of_one{convert<compute>, "a: number -> out: symint"_sig};
// Comparisons are spelled the same for both; integers are compared as such, because not all have an f64 of their own.
template <auto holds>
constexpr OpFamily comparison =
    of<[](i64 a, i64 b) { return std::optional<i64>(holds(a, b)); }, [](f64 a, f64 b) { return f64(holds(a, b)); }>;

}  // namespace

static constexpr OpEntry entries[] = {
    {"sym_size.int", sym_size, "shape x, axis: int -> out: symint"_sig},
    {"sym_numel.default", sym_numel, "shape x -> out: symint"_sig},
    {"sym_stride.int", sym_stride, "shape x, axis: int -> out: symint"_sig},
    {"et_vk.select_as_symint.default", select_as_symint, "host x, axis: int, index: int -> out: symint"_sig},
    {"add", of<add, [](f64 a, f64 b) { return a + b; }>},
    {"sub", of<sub, [](f64 a, f64 b) { return a - b; }>},
    {"mul", of<mul, [](f64 a, f64 b) { return a * b; }>},
    {"floordiv", of<floordiv, [](f64 a, f64 b) { return std::floor(a / b); }>},
    {"mod", of<mod, real_mod>},
    {"truediv", of<no_integer, [](f64 a, f64 b) { return a / b; }>},
    {"pow", of<pow, [](f64 a, f64 b) { return std::pow(a, b); }>},
    {"sym_min", of<min, [](f64 a, f64 b) { return std::min(a, b); }>},
    {"sym_max", of<max, [](f64 a, f64 b) { return std::max(a, b); }>},
    {"neg", of_one<[](f64 a) { return -a; }>},
    {"ceil", of_one<[](f64 a) { return std::ceil(a); }>},
    {"floor", of_one<[](f64 a) { return std::floor(a); }>},
    {"trunc", of_one<[](f64 a) { return std::trunc(a); }>},
    {"round", of_one<[](f64 a) { return std::nearbyint(a); }>},
    {"sym_int", of_one<[](f64 a) { return std::trunc(a); }>},
    {"sym_float", of_one<[](f64 a) { return a; }>},
    {"sym_not", of_one<[](f64 a) { return f64(a == 0); }>},
    {"sym_sum", sym_sum, "terms: ints -> out: symint"_sig},
    {"sym_ite", sym_ite, "condition: int, a: number, b: number -> out: symint"_sig},
    {"lt", comparison<std::less<>{}>},
    {"le", comparison<std::less_equal<>{}>},
    {"gt", comparison<std::greater<>{}>},
    {"ge", comparison<std::greater_equal<>{}>},
    {"eq", comparison<std::equal_to<>{}>},
    {"ne", comparison<std::not_equal_to<>{}>},
};
extern const OpList symint_ops = entries;

}  // namespace pteron::ops
