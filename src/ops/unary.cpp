// SPDX-License-Identifier: BSD-3-Clause
// Functions of one tensor, in numbers of its type.
#include "ops/elementwise.h"

#include <cmath>

namespace pteron::ops {
namespace {

// op(a, [s0, [s1,]] out)
Status in_its_type(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  const u32 scalars = op.arity() - 2;
  return arithmetic(op, std::array{a}, y, op.entry().detail,
                    {scalars > 0 ? op.number(1) : 0, scalars > 1 ? op.number(2) : 0, scalars > 2 ? op.number(3) : 0});
}

// For functions that integers don't have.
Status in_floats(Plan& op) {
  const DType result = op.last_output().dtype();
  REQUIRE(op, is_float(result), "the result must be floating-point, not ", result);
  return in_its_type(op);
}

// clamp(a, low, high, out); Null has become an infinity.
Status clamp_to(Plan& op) {
  const DType result = op.last_output().dtype();
  for (u32 arg : {1, 2}) {
    if (op.is_null(arg) || is_float(result)) continue;
    TRY_DO(check_whole(op, op.number(arg), result, "bound"));
    TRY_DO(check_byte(op, op.number(arg), result, "bound"));
    REQUIRE_LIVE(op, arg == 1 ? op.number(1) <= INT32_MAX : op.number(2) >= INT32_MIN,
                 "no integer of 32 bits is within the bound ", op.number(arg));
  }
  return in_its_type(op);
}

// pow(a, exponent, out)
Status power_of(Plan& op) {
  const DType result = op.last_output().dtype();
  const f64 exponent = op.number(1);
  if (!is_float(result)) {
    TRY_DO(check_whole(op, exponent, result, "exponent"));
    REQUIRE_LIVE(op, exponent >= 0, "the exponent ", exponent, " is negative, but the result is ", result);
    TRY_DO(check_byte(op, exponent, result, "exponent"));
    TRY_DO(check_fits(op, exponent));
  }
  return in_its_type(op);
}

constexpr OpFamily unary{in_its_type, "a -> out"_sig, chains | lanewise};
constexpr OpFamily unary_real{in_floats, "a -> out"_sig, chains | lanewise};
constexpr OpFamily power{power_of, "a, exponent: number -> out"_sig, chains | lanewise};
constexpr OpFamily clamp{clamp_to, "a, low: number = -inf, high: number = inf -> out"_sig, chains | lanewise};
constexpr OpFamily leaky_relu{in_floats, "a, slope: number = 0.01 -> out"_sig, chains | lanewise};
constexpr OpFamily hardshrink{in_floats, "a, lambda: number = 0.5 -> out"_sig, chains | lanewise};
constexpr OpFamily elu{in_floats, "a, alpha: number = 1, scale: number = 1, input_scale: number = 1 -> out"_sig,
                       lanewise};

// gelu(a, approximate, out)
Status gelu(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  const std::string_view approximate = op.text(1);
  REQUIRE(op, approximate == "none" || approximate == "tanh", "the approximation '", approximate,
          "' is not known; it is 'none' or 'tanh'");
  REQUIRE(op, is_float(y.dtype()), "the result must be floating-point, not ", y.dtype());
  return arithmetic(op, std::array{a}, y, approximate == "none" ? "gelu(a)" : "gelu_tanh(a)");
}

// round(a, decimals, out): a negative number of decimals rounds in front of the point.
Status round_decimals(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  const i64 decimals = op.integer(1);
  REQUIRE(op, is_float(y.dtype()), "the result must be floating-point, not ", y.dtype());
  REQUIRE(op, decimals >= -30 && decimals <= 30, decimals, " decimals are asked for; at most 30 are supported");
  return arithmetic(op, std::array{a}, y, decimals < 0 ? "whole_nearest(a / s0) * s0" : "whole_nearest(a * s0) / s0",
                    {std::pow(10.0, f64(std::abs(decimals)))});
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.abs.default", unary, "abs(a)"},
    {"aten.neg.default", unary, "-a"},
    {"aten.sign.default", unary, "direction(a)"},
    {"aten.floor.default", unary, "whole_below(a)"},
    {"aten.ceil.default", unary, "whole_above(a)"},
    {"aten.trunc.default", unary, "whole_part(a)"},
    {"aten.round.default", unary, "whole_nearest(a)"},
    {"aten.round.decimals", round_decimals, "a, decimals: int = 0 -> out"_sig, lanewise},
    {"aten.relu.default", unary, "maximum(a, V(0))"},
    {"aten.clamp.default", clamp, "minimum(maximum(a, s0), s1)"},
    {"aten.hardtanh.default", clamp, "minimum(maximum(a, s0), s1)"},
    {"aten.pow.Tensor_Scalar", power, "power(a, s0)"},
    {"aten.exp.default", unary_real, "keep_nan(a, exp(a))"},
    {"aten.exp2.default", unary_real, "keep_nan(a, exp2(a))"},
    {"aten.expm1.default", unary_real, "special_expm1(a)"},
    {"aten.log.default", unary_real, "special_log(a)"},
    {"aten.log2.default", unary_real, "special_log2(a)"},
    {"aten.log10.default", unary_real, "logarithm10(a)"},
    {"aten.log1p.default", unary_real, "special_log1p(a)"},
    {"aten.sqrt.default", unary_real, "sqrt(a)"},
    {"aten.rsqrt.default", unary_real, "inverseSqrt(a)"},
    {"aten.reciprocal.default", unary_real, "1.0 / a"},
    {"aten.sin.default", unary_real, "special_wave(a, 0)"},
    {"aten.cos.default", unary_real, "special_wave(a, 1)"},
    {"aten.tan.default", unary_real, "special_wave(a, 0) / special_wave(a, 1)"},
    {"aten.asin.default", unary_real, "special_asin(a)"},
    {"aten.acos.default", unary_real, "special_acos(a)"},
    {"aten.atan.default", unary_real, "special_atan2(a, 1.0)"},
    {"aten.sinh.default", unary_real, "special_sinh(a)"},
    {"aten.cosh.default", unary_real, "special_cosh(a)"},
    {"aten.tanh.default", unary_real, "safe_tanh(a)"},
    {"aten.asinh.default", unary_real, "special_asinh(a)"},
    {"aten.acosh.default", unary_real, "special_acosh(a)"},
    {"aten.atanh.default", unary_real, "special_atanh(a)"},
    {"aten.erf.default", unary_real, "special_erf(a)"},
    {"aten.sigmoid.default", unary_real, "sigmoid(a)"},
    {"aten.hardswish.default", unary_real,
     "keep_nan(a, select(select(select(a * (a + 3.0) / 6.0, a, a >= 3.0), 0.0, a <= -3.0), nan(), is_infinite(a) && a "
     "< 0.0))"},
    {"aten.hardshrink.default", hardshrink, "keep_nan(a, select(a, 0.0, abs(a) <= s0))"},
    {"aten.leaky_relu.default", leaky_relu, "select(s0 * a, a, a > 0.0)"},
    {"aten.elu.default", elu, "select(s0 * special_expm1(a * s2), a, a > 0.0) * s1"},
    {"aten.gelu.default", gelu, "a, approximate: text = none -> out"_sig, lanewise},
};
extern const OpList unary_ops = entries;

}  // namespace pteron::ops
