// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of two tensors, in numbers of their type.
#include "ops/elementwise.h"

namespace pteron::ops {
namespace {

constexpr std::string_view quotient = "a / b";

// op(a, b, [alpha,] out): s0 is alpha.
Status in_their_type(Plan& op) {
  const TensorArg a = op.tensor(0), b = op.tensor(1), y = op.last_output();
  return arithmetic(op, std::array{a, b}, y, op.entry().detail, {op.arity() > 3 ? op.number(2) : 0});
}

// div(a, b, [rounding mode,] out): also of integers, whose quotient is not one.
Status divide(Plan& op) {
  const TensorArg a = op.tensor(0), b = op.tensor(1), y = op.last_output();
  REQUIRE(op, is_float(y.dtype()), "the quotient must be floating-point, not ", y.dtype());
  return arithmetic(op, std::array{a, b}, y, quotient);
}

// div(a, b, rounding mode, out)
Status divide_and_round(Plan& op) {
  if (op.is_null(2)) return divide(op);
  const std::string_view mode = op.text(2);
  REQUIRE(op, mode == "floor" || mode == "trunc", "the rounding mode '", mode,
          "' is not known; it is 'floor' or 'trunc'");
  const TensorArg a = op.tensor(0), b = op.tensor(1), y = op.last_output();
  return arithmetic(op, std::array{a, b}, y, mode == "floor" ? "div_floor(a, b)" : "div_trunc(a, b)");
}

constexpr OpFamily binary{in_their_type, "a, b -> out"_sig, chains | lanewise};
constexpr OpFamily binary_alpha{in_their_type, "a, b, alpha: number = 1 -> out"_sig, chains | lanewise};

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.add.Tensor", binary_alpha, "a + s0 * b"},
    {"aten.sub.Tensor", binary_alpha, "a - s0 * b"},
    {"aten.mul.Tensor", binary, "a * b"},
    {"aten.div.Tensor", divide, "a, b -> out"_sig, chains | lanewise, quotient},
    {"aten.div.Tensor_mode", divide_and_round, "a, b, mode: text? -> out"_sig, lanewise},
    {"aten.minimum.default", binary, "minimum(a, b)"},
    {"aten.pow.Tensor_Tensor", binary, "power(a, b)"},
};
extern const OpList binary_ops = entries;

}  // namespace pteron::ops
