// SPDX-License-Identifier: BSD-3-Clause
// Comparisons and logic.
#include "differential/reference/interpreter.h"

#include <algorithm>

namespace pteron::reference {
namespace {

struct Comparison {
  std::string_view name;  // without "aten." and what follows
  bool (*holds)(f64, f64);
};
constexpr Comparison comparisons[] = {
    {"eq", [](f64 a, f64 b) { return a == b; }},
    {"ne", [](f64 a, f64 b) { return !(a == b); }},
    {"lt", [](f64 a, f64 b) { return a < b; }},
    {"le", [](f64 a, f64 b) { return a <= b; }},
    {"gt", [](f64 a, f64 b) { return a > b; }},
    {"ge", [](f64 a, f64 b) { return a >= b; }},
    {"logical_and", [](f64 a, f64 b) { return a != 0 && b != 0; }},
    {"logical_or", [](f64 a, f64 b) { return a != 0 || b != 0; }},
};

template <class Fn>
void pairs(Call& op, Fn fn) {
  const Array &a = op.tensor(0), &b = op.tensor(1);
  Array y = op.make(broadcast(a.dims, b.dims));
  each(y.dims, [&](const Dims& index, i64 i) { y.data[size_t(i)] = fn(at(a, index), at(b, index)); });
  op.give(std::move(y));
}

void compare(Call& op) {
  const std::string_view name(op.name().data() + 5, op.name().find('.', 5) - 5);
  const auto holds = std::ranges::find(comparisons, name, &Comparison::name)->holds;
  if (!op.name().ends_with(".Scalar")) return pairs(op, [&](f64 a, f64 b) { return holds(a, b); });
  const Array& a = op.tensor(0);
  const f64 scalar = is_float(a.dtype) ? f64(f32(op.number(1))) : op.number(1);
  Array y = op.make(a.dims);
  for (size_t i = 0; i < a.data.size(); ++i) y.data[i] = holds(a.data[i], scalar);
  op.give(std::move(y));
}

void bitwise_and(Call& op) {
  pairs(op, [](f64 a, f64 b) { return f64(i64(a) & i64(b)); });
}
void bitwise_or(Call& op) {
  pairs(op, [](f64 a, f64 b) { return f64(i64(a) | i64(b)); });
}
void invert(Call& op) {
  const Array& a = op.tensor(0);
  const bool truth = a.dtype == DType::boolean || op.name() == "aten.logical_not.default";
  Array y = op.make(a.dims);
  for (size_t i = 0; i < a.data.size(); ++i) y.data[i] = truth ? f64(a.data[i] == 0) : f64(~i64(a.data[i]));
  op.give(std::move(y));
}

constexpr OpRule rules[] = {
    {"aten.eq.Tensor", compare},
    {"aten.ne.Tensor", compare},
    {"aten.lt.Tensor", compare},
    {"aten.le.Tensor", compare},
    {"aten.gt.Tensor", compare},
    {"aten.ge.Tensor", compare},
    {"aten.eq.Scalar", compare},
    {"aten.ne.Scalar", compare},
    {"aten.lt.Scalar", compare},
    {"aten.le.Scalar", compare},
    {"aten.gt.Scalar", compare},
    {"aten.ge.Scalar", compare},
    {"aten.logical_and.default", compare},
    {"aten.logical_or.default", compare},
    {"aten.bitwise_and.Tensor", bitwise_and},
    {"aten.bitwise_or.Tensor", bitwise_or},
    {"aten.logical_not.default", invert},
    {"aten.bitwise_not.default", invert},
};

}  // namespace

extern const OpRules comparison_rules = rules;

}  // namespace pteron::reference
