// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of elements, casts and fills.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>

namespace pteron::reference {
namespace {

// A function and how far off it may be, in halves of f32's last place of 1. A shader's exp, pow and tanh are good to
// some parts of their argument only, and what is made of them no better.
struct Function {
  std::string_view name;
  f64 (*value)(f64);
  f64 (*slack)(f64 x, f64 y) = [](f64, f64 y) { return 4 * std::abs(y); };
};
f64 exponential(f64 x, f64 y) { return (8 + 4 * std::abs(x)) * std::abs(y); }
f64 absolute(f64, f64) { return 16; }

constexpr Function functions[] = {
    {"aten.exp.default", [](f64 x) { return std::exp(x); }, exponential},
    {"aten.log10.default", [](f64 x) { return std::log10(x); }, absolute},
    {"aten.sqrt.default", [](f64 x) { return std::sqrt(x); }},
    {"aten.rsqrt.default", [](f64 x) { return 1 / std::sqrt(x); }},
    {"aten.sin.default", [](f64 x) { return std::sin(x); }, absolute},
    {"aten.cos.default", [](f64 x) { return std::cos(x); }, absolute},
    {"aten.tanh.default", [](f64 x) { return std::tanh(x); }, absolute},
    // Never 0, as in mathematics: what drivers make of numbers that small is theirs (noise.h).
    {"aten.sigmoid.default", [](f64 x) { return 1 / (1 + std::min(std::exp(-x), 1e300)); }, exponential},
    {"aten.hardswish.default",
     [](f64 x) {
       return x == -INFINITY ? NAN : x <= -3 ? 0 : x >= 3 || std::isnan(x) ? x : x * (x + 3) / 6;
     },
     [](f64 x, f64 y) { return y == 0 || std::abs(x) >= 3 ? 0.0 : 4 * (std::abs(y) + std::abs(x)); }},
};

// Integers of 32 bits wrap around.
Array map(Call& op, const std::function<f64(const Dims&)>& fn, const Dims& dims) {
  Array y = op.make(dims);
  each(dims, [&](const Dims& index, i64 i) { y.data[size_t(i)] = fn(index); });
  return y;
}
void unary(Call& op, const std::function<f64(f64)>& fn) {
  const Array& x = op.tensor(0);
  op.give(map(op, [&](const Dims& index) { return fn(at(x, index)); }, x.dims));
}
void binary(Call& op, const std::function<f64(f64, f64)>& fn) {
  const Array &a = op.tensor(0), &b = op.tensor(1);
  op.give(map(op, [&](const Dims& index) { return fn(at(a, index), at(b, index)); }, broadcast(a.dims, b.dims)));
}

void function(Call& op) {
  const Function* f = std::ranges::find(functions, op.name(), &Function::name);
  unary(op, [&](f64 x) {
    const f64 y = f->value(op.noisy(x, 0, 0));  // which may be 0 to the device if it is tiny
    return op.noisy(y, f->slack(x, y), 1);
  });
}

void add(Call& op) {
  const f64 alpha = op.number_or(2, 1) * (op.name() == "aten.sub.Tensor" ? -1 : 1);
  const bool floating = is_float(op.dtype());
  binary(op, [&](f64 a, f64 b) {
    const f64 part = floating ? f64(f32(alpha)) * b : std::trunc(alpha) * b;
    // WGSL lets compilers take what is added and taken off again for nothing, also if it is no number.
    if (floating && !std::isfinite(a) && !std::isfinite(part)) return op.anything(a + part, 0);
    return floating ? op.noisy(a + part, std::abs(a) + std::abs(part)) : a + part;
  });
}

void multiply(Call& op) {
  const bool floating = is_float(op.dtype());
  // A product of integers is counted around here: 64 bits of it would not fit in a real number.
  binary(op, [&](f64 a, f64 b) { return floating ? op.noisy(a * b) : f64(i32(u32(u64(i64(a)) * u64(i64(b))))); });
}

f64 floor_quotient(f64 a, f64 b) {
  if (b == 0) return a / b;
  f64 rest = std::fmod(a, b);
  f64 q = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) q -= 1;
  return std::isfinite(q) ? std::nearbyint(q) : q;
}

void divide(Call& op) {
  const std::string mode = op.name() == "aten.div.Tensor" ? "" : op.text_or(2, "");
  binary(op, [&](f64 a, f64 b) {
    if (mode == "floor") return floor_quotient(a, b);
    if (mode != "trunc") return op.noisy(a / b);
    return std::fmod(a, b) == 0 ? a / b : std::trunc(op.noisy(a / b));
  });
}

f64 smaller(f64 a, f64 b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }
f64 larger(f64 a, f64 b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }

void minimum(Call& op) { binary(op, smaller); }

f64 power(Call& op, f64 a, f64 b) {
  if (is_float(op.dtype())) {
    const f64 y = std::pow(a, b), bits = a == 0 ? 0 : b * std::log2(std::abs(a));
    return op.noisy(y, std::abs(y), 16 * (1 + std::abs(bits)));
  }
  if (b < 0) return a == 1 ? 1 : a == -1 ? (i64(b) % 2 ? -1 : 1) : 0;
  u32 product = 1;
  for (i64 i = 0; i < i64(b); ++i) product *= u32(i64(a));
  return i32(product);
}
void power_of_tensors(Call& op) {
  binary(op, [&](f64 a, f64 b) { return power(op, a, b); });
}
void power_of_number(Call& op) {
  const f64 exponent = f64(f32(op.number(1)));
  unary(op, [&](f64 a) { return power(op, a, exponent); });
}

void clamp(Call& op) {
  constexpr f64 infinity = std::numeric_limits<f64>::infinity();
  f64 low = op.number_or(1, -infinity), high = op.number_or(2, infinity);
  if (is_float(op.dtype())) low = f32(low), high = f32(high);
  unary(op, [&](f64 a) { return smaller(larger(a, low), high); });
}

void absolute_value(Call& op) {
  unary(op, [](f64 a) { return std::abs(a); });
}
void negate(Call& op) {
  unary(op, [](f64 a) { return -a; });
}
void relu(Call& op) {
  unary(op, [](f64 a) { return larger(a, 0); });
}
void round(Call& op) {
  unary(op, [](f64 a) { return std::nearbyint(a); });
}
void leaky_relu(Call& op) {
  const f64 slope = f32(op.number_or(1, 0.01));
  unary(op, [&](f64 a) { return a > 0 ? a : op.noisy(a * slope); });
}
void hardshrink(Call& op) {
  const f64 edge = f32(op.number_or(1, 0.5));
  unary(op, [&](f64 a) { return std::abs(a) <= edge ? 0 : a; });
}
void gelu(Call& op) {
  const bool exact = op.text_or(1, "none") == "none";
  unary(op, [&](f64 a) {
    const f64 phi = exact ? std::erf(a / std::sqrt(2.0)) : std::tanh(0.7978845608028654 * (a + 0.044715 * a * a * a));
    return op.noisy(0.5 * a * (1 + phi), std::abs(a), 16);
  });
}

// Floats become integers by cutting their fraction off, and the nearest there is where they are too large.
f64 converted(f64 v, DType from, DType to) {
  if (is_float(to) || to == DType::boolean || !is_float(from)) return v;
  return std::isnan(v) ? 0 : std::clamp(std::trunc(v), -2147483648.0, 2147483647.0);
}
void cast(Call& op) {
  const DType from = op.tensor(0).dtype, to = op.dtype();
  unary(op, [&](f64 a) { return converted(a, from, to); });
}
// copy(target, source, non_blocking, out): the source in the target's shape.
void copy(Call& op) {
  const Array &target = op.tensor(0), &x = op.tensor(1);
  op.give(map(op, [&](const Dims& index) { return converted(at(x, index), x.dtype, op.dtype()); }, target.dims));
}

void where(Call& op) {
  const Array &c = op.tensor(0), &a = op.tensor(1), &b = op.tensor(2);
  const Dims dims = broadcast(broadcast(c.dims, a.dims), b.dims);
  op.give(map(op, [&](const Dims& index) { return at(c, index) != 0 ? at(a, index) : at(b, index); }, dims));
}

void fill(Call& op, const Dims& dims, f64 value) {
  op.give(map(op, [&](const Dims&) { return value; }, dims));
}
template <int value>
void constant(Call& op) {
  fill(op, op.ints(0), value);
}
template <int value>
void constant_like(Call& op) {
  fill(op, op.tensor(0).dims, value);
}
void full(Call& op) { fill(op, op.ints(0), op.number(1)); }
void full_like(Call& op) { fill(op, op.tensor(0).dims, op.number(1)); }
void scalar_tensor(Call& op) { fill(op, {}, op.number(0)); }
void arange(Call& op) {
  const f64 start = op.number_or(0, 0), step = op.number_or(2, 1);
  Array y = op.make({i64(std::ceil((op.number(1) - start) / step))});
  for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = op.noisy(start + f64(i) * step);
  op.give(std::move(y));
}

constexpr OpRule rules[] = {
    {"aten.exp.default", function},
    {"aten.log10.default", function},
    {"aten.sqrt.default", function},
    {"aten.rsqrt.default", function},
    {"aten.sin.default", function},
    {"aten.cos.default", function},
    {"aten.tanh.default", function},
    {"aten.sigmoid.default", function},
    {"aten.hardswish.default", function},
    {"aten.add.Tensor", add},
    {"aten.sub.Tensor", add},
    {"aten.mul.Tensor", multiply},
    {"aten.div.Tensor", divide},
    {"aten.div.Tensor_mode", divide},
    {"aten.minimum.default", minimum},
    {"aten.pow.Tensor_Tensor", power_of_tensors},
    {"aten.pow.Tensor_Scalar", power_of_number},
    {"aten.clamp.default", clamp},
    {"aten.hardtanh.default", clamp},
    {"aten.abs.default", absolute_value},
    {"aten.neg.default", negate},
    {"aten.relu.default", relu},
    {"aten.round.default", round},
    {"aten.leaky_relu.default", leaky_relu},
    {"aten.hardshrink.default", hardshrink},
    {"aten.gelu.default", gelu},
    {"aten._to_copy.default", cast},
    {"dim_order_ops._to_dim_order_copy.default", cast},
    {"aten.copy.default", copy},
    {"aten.where.self", where},
    {"aten.full.default", full},
    {"aten.full_like.default", full_like},
    {"aten.zeros.default", constant<0>},
    {"aten.zeros_like.default", constant_like<0>},
    {"aten.ones.default", constant<1>},
    {"aten.ones_like.default", constant_like<1>},
    {"aten.scalar_tensor.default", scalar_tensor},
    {"aten.arange.start_step", arange},
};

}  // namespace

extern const OpRules elementwise_rules = rules;

}  // namespace pteron::reference
