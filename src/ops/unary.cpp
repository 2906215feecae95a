// SPDX-License-Identifier: BSD-3-Clause
// Functions of one tensor, in numbers of its type.
#include "ops/elementwise.h"

namespace pteron::ops {
namespace {

// op(a, [s0, [s1,]] out)
Status in_its_type(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  const u32 scalars = op.arity() - 2;
  return arithmetic(op, std::array{a}, y, op.entry().detail,
                    {scalars > 0 ? op.number(1) : 0, scalars > 1 ? op.number(2) : 0});
}

// For functions that integers don't have.
Status in_floats(Plan& op) {
  const DType result = op.last_output().dtype();
  REQUIRE(op, is_float(result), "the result must be floating-point, not ", result);
  return in_its_type(op);
}

constexpr OpFamily unary{in_its_type, "a -> out"_sig, chains | lanewise};
constexpr OpFamily unary_real{in_floats, "a -> out"_sig, chains | lanewise};
constexpr OpFamily power{in_its_type, "a, exponent: number -> out"_sig, chains | lanewise};
constexpr OpFamily clamp{in_its_type, "a, low: number = -inf, high: number = inf -> out"_sig, chains | lanewise};
constexpr OpFamily leaky_relu{in_floats, "a, slope: number = 0.01 -> out"_sig, chains | lanewise};
constexpr OpFamily hardshrink{in_floats, "a, lambda: number = 0.5 -> out"_sig, chains | lanewise};

// gelu(a, approximate, out)
Status gelu(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  const std::string_view approximate = op.text(1);
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
    {"aten.gelu.default", gelu, "a, approximate: text = none -> out"_sig, lanewise},
};
extern const OpList unary_ops = entries;

}  // namespace pteron::ops
