// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of two tensors, or of a tensor and a number, in numbers of their type.
#include "ops/elementwise.h"

namespace pteron::ops {
namespace {

constexpr std::string_view quotient = "a / b", scalar_quotient = "a / s0";

// op(a, b, [alpha,] out): s0 is alpha.
Status in_their_type(Plan& op) {
  const TensorArg a = op.tensor(0), b = op.tensor(1), y = op.last_output();
  const f64 alpha = op.arity() > 3 ? op.number(2) : 0;
  if (!is_float(y.dtype())) {
    TRY_DO(check_whole(op, alpha, DType::i32));
    TRY_DO(check_fits(op, alpha));
  }
  return arithmetic(op, std::array{a, b}, y, op.entry().detail, {alpha});
}

// For functions that integers don't have.
Status in_floats(Plan& op) {
  const DType result = op.last_output().dtype();
  REQUIRE(op, is_float(result), "the result must be floating-point, not ", result);
  return in_their_type(op);
}

// op(a, number, [alpha,] out): s0 is the number, s1 alpha.
Status with_scalar(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  const Scalars scalars{op.number(1), op.arity() > 3 ? op.number(2) : 0};
  if (!is_float(y.dtype()))
    for (const f64 number : {scalars.s0, scalars.s1}) {
      TRY_DO(check_whole(op, number, y.dtype()));
      TRY_DO(check_fits(op, number));
    }
  return arithmetic(op, std::array{a}, y, op.entry().detail, scalars);
}

// Where sums and products come out the same, whichever way a number is counted that a byte can't hold.
Status remainder_of_scalar(Plan& op) {
  TRY_DO(check_byte(op, op.number(1), op.last_output().dtype(), "divisor"));
  return with_scalar(op);
}

// pow(number, exponent, out)
Status power_of_scalar(Plan& op) {
  const TensorArg exponent = op.tensor(1), y = op.last_output();
  const f64 base = op.number(0);
  TRY_DO(check_whole(op, base, y.dtype()));
  if (!is_float(y.dtype())) TRY_DO(check_fits(op, base));
  return arithmetic(op, std::array{exponent}, y, "power(s0, a)", {base});
}

// A quotient of integers is none.
Status divide(Plan& op) {
  REQUIRE(op, is_float(op.last_output().dtype()), "the quotient must be floating-point, not ",
          op.last_output().dtype());
  return op.entry().detail == quotient ? in_their_type(op) : with_scalar(op);
}

// What a rounding mode, which may be missing, makes of a quotient.
Result<std::string_view> rounded(Plan& op, std::string_view exact, std::string_view floor, std::string_view trunc) {
  const DType result = op.last_output().dtype();
  REQUIRE(op, is_float(result) || !op.is_null(2), "the quotient must be floating-point, not ", result);
  if (op.is_null(2)) return exact;
  const std::string_view mode = op.text(2);
  REQUIRE(op, mode == "floor" || mode == "trunc", "the rounding mode '", mode,
          "' is not known; it is 'floor' or 'trunc'");
  return mode == "floor" ? floor : trunc;
}

// div(a, b, rounding mode, out)
Status divide_and_round(Plan& op) {
  const TensorArg a = op.tensor(0), b = op.tensor(1), y = op.last_output();
  TRY(const std::string_view expression, rounded(op, quotient, "div_floor(a, b)", "div_trunc(a, b)"));
  return arithmetic(op, std::array{a, b}, y, expression);
}

// div(a, number, rounding mode, out)
Status divide_by_scalar_and_round(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  const f64 divisor = op.number(1);
  TRY_DO(check_byte(op, divisor, y.dtype(), "divisor"));
  TRY_DO(check_whole(op, divisor, y.dtype(), "divisor"));
  if (!is_float(y.dtype())) TRY_DO(check_fits(op, divisor));
  TRY(const std::string_view expression, rounded(op, scalar_quotient, "div_floor(a, s0)", "div_trunc(a, s0)"));
  return arithmetic(op, std::array{a}, y, expression, {divisor});
}

// clamp(a, low?, high?, out)
Status clamp(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  const auto low = op.maybe_tensor(1), high = op.maybe_tensor(2);
  REQUIRE(op, low || high, "there is neither a lower nor an upper bound");
  if (low && high) return arithmetic(op, std::array{a, *low, *high}, y, "minimum(maximum(a, b), c)");
  return arithmetic(op, std::array{a, low ? *low : *high}, y, low ? "maximum(a, b)" : "minimum(a, b)");
}

constexpr OpFamily binary{in_their_type, "a, b -> out"_sig, chains | lanewise};
constexpr OpFamily binary_real{in_floats, "a, b -> out"_sig, chains | lanewise};
constexpr OpFamily binary_alpha{in_their_type, "a, b, alpha: number = 1 -> out"_sig, chains | lanewise};
constexpr OpFamily scalar{with_scalar, "a, number: number -> out"_sig, chains | lanewise};
constexpr OpFamily scalar_divisor{remainder_of_scalar, "a, number: number -> out"_sig, chains | lanewise};
constexpr OpFamily scalar_alpha{with_scalar, "a, number: number, alpha: number = 1 -> out"_sig, chains | lanewise};

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.add.Tensor", binary_alpha, "a + s0 * b"},
    {"aten.add.Scalar", scalar_alpha, "a + s1 * s0"},
    {"aten.sub.Tensor", binary_alpha, "a - s0 * b"},
    {"aten.sub.Scalar", scalar_alpha, "a - s1 * s0"},
    {"aten.mul.Tensor", binary, "a * b"},
    {"aten.mul.Scalar", scalar, "a * s0"},
    {"aten.div.Tensor", divide, "a, b -> out"_sig, chains | lanewise, quotient},
    {"aten.div.Scalar", divide, "a, number: number -> out"_sig, chains | lanewise, scalar_quotient},
    {"aten.div.Tensor_mode", divide_and_round, "a, b, mode: text? -> out"_sig, lanewise},
    {"aten.div.Scalar_mode", divide_by_scalar_and_round, "a, number: number, mode: text? -> out"_sig, lanewise},
    {"aten.fmod.Tensor", binary, "remainder(a, b)"},
    {"aten.fmod.Scalar", scalar_divisor, "remainder(a, s0)"},
    {"aten.remainder.Tensor", binary, "modulo(a, b)"},
    {"aten.remainder.Scalar", scalar_divisor, "modulo(a, s0)"},
    {"aten.minimum.default", binary, "minimum(a, b)"},
    {"aten.maximum.default", binary, "maximum(a, b)"},
    {"aten.clamp.Tensor", clamp, "a, low?, high? -> out"_sig, lanewise},
    {"aten.pow.Tensor_Tensor", binary, "power(a, b)"},
    {"aten.pow.Scalar", power_of_scalar, "base: number, exponent -> out"_sig, lanewise},
    {"aten.atan2.default", binary_real, "special_atan2(a, b)"},
};
extern const OpList binary_ops = entries;

}  // namespace pteron::ops
