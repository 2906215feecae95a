// SPDX-License-Identifier: BSD-3-Clause
// Functions of one tensor, in numbers of its type.
#include "ops/elementwise.h"

#include <limits>

namespace pteron::ops {
namespace {

constexpr f64 infinity = std::numeric_limits<f64>::infinity();

// op(a, out)
Status unary(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  return arithmetic(op, std::array{a}, y, op.entry().detail);
}

// For functions that integers don't have.
Status real(Plan& op, Scalars scalars = {}) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  REQUIRE(op, is_float(y.dtype()), "the result must be floating-point, not ", y.dtype());
  return arithmetic(op, std::array{a}, y, op.entry().detail, scalars);
}

// op(a, out)
Status unary_real(Plan& op) { return real(op); }

// leaky_relu(a, slope, out)
Status leaky_relu(Plan& op) { return real(op, {op.number_or(1, 0.01)}); }

// hardshrink(a, lambda, out)
Status hardshrink(Plan& op) { return real(op, {op.number_or(1, 0.5)}); }

// pow(a, exponent, out)
Status power(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  return arithmetic(op, std::array{a}, y, op.entry().detail, {op.number(1)});
}

// clamp(a, min?, max?, out)
Status clamp(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  return arithmetic(op, std::array{a}, y, op.entry().detail, {op.number_or(1, -infinity), op.number_or(2, infinity)});
}

// gelu(a, approximate, out)
Status gelu(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  const std::string_view approximate = op.text_or(1, "none");
  REQUIRE(op, approximate == "none" || approximate == "tanh", "the approximation '", approximate,
          "' is not known; it is 'none' or 'tanh'");
  REQUIRE(op, is_float(y.dtype()), "the result must be floating-point, not ", y.dtype());
  return arithmetic(op, std::array{a}, y, approximate == "none" ? "gelu(a)" : "gelu_tanh(a)");
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.abs.default", unary, "abs(a)"},
    {"aten.neg.default", unary, "-a"},
    {"aten.relu.default", unary, "maximum(a, V(0))"},
    {"aten.clamp.default", clamp, "minimum(maximum(a, s0), s1)"},
    {"aten.hardtanh.default", clamp, "minimum(maximum(a, s0), s1)"},
    {"aten.pow.Tensor_Scalar", power, "power(a, s0)"},
    {"aten.exp.default", unary_real, "keep_nan(a, exp(a))"},
    {"aten.log10.default", unary_real, "logarithm10(a)"},
    {"aten.sqrt.default", unary_real, "sqrt(a)"},
    {"aten.rsqrt.default", unary_real, "inverseSqrt(a)"},
    {"aten.sin.default", unary_real, "wave(a, 0)"},
    {"aten.cos.default", unary_real, "wave(a, 1)"},
    {"aten.tanh.default", unary_real, "safe_tanh(a)"},
    {"aten.sigmoid.default", unary_real, "sigmoid(a)"},
    {"aten.round.default", unary_real, "round(a)"},
    {"aten.hardswish.default", unary_real,
     "keep_nan(a, select(select(a * (a + 3.0) / 6.0, a, a >= 3.0), 0.0, a <= -3.0))"},
    {"aten.hardshrink.default", hardshrink, "keep_nan(a, select(a, 0.0, abs(a) <= s0))"},
    {"aten.leaky_relu.default", leaky_relu, "select(s0 * a, a, a > 0.0)"},
    {"aten.gelu.default", gelu},
};
extern const OpList unary_ops = entries;

}  // namespace pteron::ops
