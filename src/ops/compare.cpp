// SPDX-License-Identifier: BSD-3-Clause
// Comparisons and logic. Integers are compared as integers.
#include "base/half.h"
#include "ops/elementwise.h"

#include <cmath>

namespace pteron::ops {
namespace {

// op(a, out)
Status compare_one(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  REQUIRE(op, y.dtype() == DType::boolean, "the result must be bool, not ", y.dtype());
  return elementwise(op, std::array{a}, y, op.entry().detail);
}

// op(a, b, out)
Status compare_two(Plan& op) {
  const TensorArg a = op.tensor(0), b = op.tensor(1), y = op.last_output();
  REQUIRE(op, y.dtype() == DType::boolean, "the result must be bool, not ", y.dtype());
  return elementwise(op, std::array{a, b}, y, op.entry().detail);
}

// op(a, scalar, out). Integers are compared in floating-point with a number that is none of theirs; one outside of
// their range is moved far away, so that rounding can't make an integer equal to it. Like torch, half precision is
// compared with what the number is there.
Status compare_with_scalar(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  REQUIRE(op, y.dtype() == DType::boolean, "the result must be bool, not ", y.dtype());
  Scalars scalars{op.number(1)};
  if (op.file_dtype(a) == DType::f16) scalars.s0 = half_to_float(float_to_half(f32(scalars.s0)));
  if (!is_float(a.dtype())) {
    if (std::isfinite(scalars.s0) && std::floor(scalars.s0) == scalars.s0)
      TRY_DO(check_byte(op, scalars.s0, a.dtype()));
    const bool inside = scalars.s0 >= INT32_MIN && scalars.s0 <= INT32_MAX;
    scalars.real = !inside || std::floor(scalars.s0) != scalars.s0;
    if (!inside) scalars.s0 *= 1e20;
  }
  return elementwise(op, std::array{a}, y, op.entry().detail, scalars);
}

// op(a, b, out), bit by bit
Status combine_bits(Plan& op) {
  const TensorArg a = op.tensor(0), b = op.tensor(1), y = op.last_output();
  REQUIRE(op, !is_float(a.dtype()) && !is_float(b.dtype()), "bits of ", a.dtype(), " and ", b.dtype(),
          " can't be combined; integers or booleans are needed");
  REQUIRE(op, !is_float(y.dtype()), "bits of integers are integers, not ", y.dtype());
  return arithmetic(op, std::array{a, b}, y, op.entry().detail);
}

// op(a, number, out), bit by bit
Status combine_with_scalar(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  const f64 number = op.number(1);
  REQUIRE(op, !is_float(a.dtype()), "bits of ", a.dtype(), " can't be combined; integers or booleans are needed");
  REQUIRE(op, !is_float(y.dtype()), "bits of integers are integers, not ", y.dtype());
  TRY_DO(check_whole(op, number, y.dtype()));
  TRY_DO(check_fits(op, number));
  return arithmetic(op, std::array{a}, y, op.entry().detail, {number});
}

// bitwise_not(a, out): of a boolean its opposite
Status bitwise_not(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  REQUIRE(op, !is_float(a.dtype()) && a.dtype() == y.dtype(), "the bits of ", a.dtype(), " can't be inverted to ",
          y.dtype());
  return elementwise(op, std::array{a}, y, a.dtype() == DType::boolean ? "!truth(a)" : "~a");
}

// where(condition, a, b, out)
Status where(Plan& op) {
  const TensorArg condition = op.tensor(0), a = op.tensor(1), b = op.tensor(2), y = op.last_output();
  REQUIRE(op, is_float(y.dtype()) || (!is_float(a.dtype()) && !is_float(b.dtype())), "the choices are ", a.dtype(),
          " and ", b.dtype(), ", but the result is ", y.dtype());
  return elementwise(op, std::array{condition, a, b}, y, op.entry().detail);
}

}  // namespace

bool gives_truth(const graph::OpEntry& op) {
  return op.plan == compare_one || op.plan == compare_two || op.plan == compare_with_scalar;
}

namespace {

constexpr OpFamily unary{compare_one, "a -> out"_sig, chains | lanewise};
constexpr OpFamily binary{compare_two, "a, b -> out"_sig, chains | lanewise};
constexpr OpFamily with_scalar{compare_with_scalar, "a, scalar: number -> out"_sig, chains | lanewise};
constexpr OpFamily bitwise{combine_bits, "a, b -> out"_sig, lanewise};
constexpr OpFamily bitwise_scalar{combine_with_scalar, "a, number: number -> out"_sig, lanewise};

}  // namespace

// NaN differs from everything, but some compilers' `!=` says that it does not.
static constexpr OpEntry entries[] = {
    {"aten.eq.Tensor", binary, "a == b"},
    {"aten.ne.Tensor", binary, "!(a == b)"},
    {"aten.lt.Tensor", binary, "a < b"},
    {"aten.le.Tensor", binary, "a <= b"},
    {"aten.gt.Tensor", binary, "a > b"},
    {"aten.ge.Tensor", binary, "a >= b"},
    {"aten.eq.Scalar", with_scalar, "a == s0"},
    {"aten.ne.Scalar", with_scalar, "!(a == s0)"},
    {"aten.lt.Scalar", with_scalar, "a < s0"},
    {"aten.le.Scalar", with_scalar, "a <= s0"},
    {"aten.gt.Scalar", with_scalar, "a > s0"},
    {"aten.ge.Scalar", with_scalar, "a >= s0"},
    {"aten.logical_not.default", unary, "!truth(a)"},
    {"aten.logical_and.default", binary, "truth(a) && truth(b)"},
    {"aten.logical_or.default", binary, "truth(a) || truth(b)"},
    {"aten.logical_xor.default", binary, "truth(a) != truth(b)"},
    {"aten.isnan.default", unary, "is_nan(a)"},
    {"aten.isinf.default", unary, "is_infinite(a)"},
    {"aten.bitwise_and.Tensor", bitwise, "a & b"},
    {"aten.bitwise_and.Scalar", bitwise_scalar, "a & s0"},
    {"aten.bitwise_or.Tensor", bitwise, "a | b"},
    {"aten.bitwise_or.Scalar", bitwise_scalar, "a | s0"},
    {"aten.bitwise_xor.Tensor", bitwise, "a ^ b"},
    {"aten.bitwise_xor.Scalar", bitwise_scalar, "a ^ s0"},
    {"aten.__lshift__.Scalar", bitwise_scalar, "shift_left(a, s0)"},
    {"aten.__rshift__.Scalar", bitwise_scalar, "shift_right(a, s0)"},
    {"aten.bitwise_not.default", bitwise_not, "a -> out"_sig, lanewise},
    {"aten.where.self", where, "condition, a, b -> out"_sig, chains | lanewise, "select(c, b, truth(a))"},
};
extern const OpList compare_ops = entries;

}  // namespace pteron::ops
