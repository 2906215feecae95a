// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.h"
#include "selftest/trial.h"

#include <cmath>

namespace pteron::selftest {
namespace {

void unary(Trials& trials, const std::string& op, const Array& x, f64 (*f)(f64), DType dtype, f64 tolerance) {
  Trial& t = trials.emplace_back(op, tolerance);
  t.run("aten." + op + ".default", {Operand(x, dtype)}, {{map(x, f), dtype}});
}

// Angles of any size. Their cosines are given, because the C library of Windows is wrong about large ones.
void far_cosines(Trials& trials) {
  Trial& t = trials.emplace_back("cos", 1e-5);
  const Array x({10}, {1e4f, -3e6f, 7e8f, -2e11f, 5e14f, 1e17f, -4e20f, 6e24f, -1e30f, 3e38f});
  const Array y(
      {10}, {-0.9521553682590149, 0.4777606280773224, 0.5126780029308659, -0.9924421852794791, -0.7434239967830426,
             -0.8216643517070867, -0.9620145299347558, 0.5521890198160697, -0.6116047854178966, -0.4842947835419069});
  t.run("aten.cos.default", {x}, {y});
}

// A matrix and a row.
template <class F>
void binary(Trials& trials, const std::string& name, const Array& a, const Array& b, DType from, DType to, F f) {
  Trial& t = trials.emplace_back(str(name, " ", from), from == DType::f16 ? 2e-3 : 1e-5);
  Array y(a.shape);
  for (size_t i = 0; i < a.size(); ++i) y.v[i] = f(a.v[i], b.v[i % b.size()]);
  std::vector<Argument> arguments{Operand(a, from), Operand(b, from)};
  if (name == "aten.add.Tensor") arguments.push_back(2);
  t.run(name, arguments, {{y, to}});
}

void select(Trials& trials) {
  Trial& t = trials.emplace_back("where");
  const Array condition = integers({5, 7}, 0, 1), a = random({5, 7}), b = random({7});
  Array y({5, 7});
  for (size_t i = 0; i < y.size(); ++i) y.v[i] = condition.v[i] != 0 ? a.v[i] : b.v[i % 7];
  t.run("aten.where.self", {Operand(condition, DType::boolean), a, b}, {y});
}

void cast(Trials& trials, DType from, DType to) {
  Trial& t = trials.emplace_back(str("cast ", from, " to ", to));
  const Array x = integers({3, 7}, 0, 100);
  t.run("aten._to_copy.default", {Operand(x, from)}, {{x, to}});
}

void fill(Trials& trials) {
  Trial& t = trials.emplace_back("full");
  t.run("aten.full.default", {{3, 5}, 2.5}, {map(Array({3, 5}), [](f64) { return 2.5; })});
}

}  // namespace

void add_elementwise(Trials& trials, bool f16) {
  const Array wide = random({5, 7}, -4, 4), positive = random({5, 9}, 0.25, 4);
  const auto sigmoid = [](f64 x) { return 1 / (1 + std::exp(-x)); };
  unary(trials, "sigmoid", wide, sigmoid, DType::f32, 1e-5);
  unary(trials, "exp", wide, [](f64 x) { return std::exp(x); }, DType::f32, 1e-5);
  unary(trials, "tanh", wide, [](f64 x) { return std::tanh(x); }, DType::f32, 1e-5);
  unary(trials, "sin", wide, [](f64 x) { return std::sin(x); }, DType::f32, 1e-5);
  far_cosines(trials);
  unary(trials, "rsqrt", positive, [](f64 x) { return 1 / std::sqrt(x); }, DType::f32, 1e-5);
  unary(trials, "log10", positive, [](f64 x) { return std::log10(x); }, DType::f32, 1e-5);
  unary(trials, "round", wide, [](f64 x) { return std::nearbyint(x); }, DType::f32, 0);
  const auto sum = [](f64 a, f64 b) { return a + 2 * b; };
  const auto times = [](f64 a, f64 b) { return a * b; };
  const auto less = [](f64 a, f64 b) { return f64(a < b); };
  const Array a = random({6, 8}), row = random({8}), odd = random({5, 7}), odd_row = random({7});
  binary(trials, "aten.add.Tensor", a, row, DType::f32, DType::f32, sum);
  binary(trials, "aten.mul.Tensor", odd, odd_row, DType::f32, DType::f32, times);
  binary(trials, "aten.lt.Tensor", odd, odd_row, DType::f32, DType::boolean, less);
  const Array whole = integers({5, 7}, -9000, 9000), whole_row = integers({7}, -9000, 9000);
  binary(trials, "aten.add.Tensor", whole, whole_row, DType::i32, DType::i32, sum);
  binary(trials, "aten.mul.Tensor", whole, whole_row, DType::i32, DType::i32, times);
  if (f16) {
    binary(trials, "aten.add.Tensor", a, row, DType::f16, DType::f16, sum);
    binary(trials, "aten.mul.Tensor", odd, odd_row, DType::f16, DType::f16, times);
  }
  select(trials);
  fill(trials);
  cast(trials, DType::f32, DType::i32);
  cast(trials, DType::u8, DType::f32);
  cast(trials, DType::i32, DType::i8);
  if (f16) cast(trials, DType::f32, DType::f16);
}

}  // namespace pteron::selftest
