// SPDX-License-Identifier: BSD-3-Clause
// Functions of core ATen on single elements, and of an element and a number.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <functional>

namespace pteron::reference {
namespace {

f64 sign(f64 x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
f64 modulo(f64 a, f64 b) {
  const f64 rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// Steps: how far off a shader may be, in halves of f32's last place of what it computes with; 0: exact.
struct Unary {
  std::string_view name;
  f64 (*value)(f64);
  f64 steps;
};
constexpr Unary unary_functions[] = {
    {"aten.sign.default", sign, 0},
    {"aten.floor.default", [](f64 x) { return std::floor(x); }, 0},
    {"aten.ceil.default", [](f64 x) { return std::ceil(x); }, 0},
    {"aten.trunc.default", [](f64 x) { return std::trunc(x); }, 0},
    {"aten.isnan.default", [](f64 x) { return f64(std::isnan(x)); }, 0},
    {"aten.isinf.default", [](f64 x) { return f64(std::isinf(x)); }, 0},
    {"aten.exp2.default", [](f64 x) { return std::exp2(x); }, 64},
    {"aten.expm1.default", [](f64 x) { return std::expm1(x); }, 64},
    {"aten.log.default", [](f64 x) { return std::log(x); }, 16},
    {"aten.log2.default", [](f64 x) { return std::log2(x); }, 16},
    {"aten.log1p.default", [](f64 x) { return std::log1p(x); }, 16},
    {"aten.reciprocal.default", [](f64 x) { return 1 / x; }, 4},
    {"aten.tan.default", [](f64 x) { return std::tan(x); }, 64},
    {"aten.asin.default", [](f64 x) { return std::asin(x); }, 64},
    {"aten.acos.default", [](f64 x) { return std::acos(x); }, 64},
    {"aten.atan.default", [](f64 x) { return std::atan(x); }, 16},
    {"aten.sinh.default", [](f64 x) { return std::sinh(x); }, 64},
    {"aten.cosh.default", [](f64 x) { return std::cosh(x); }, 64},
    {"aten.asinh.default", [](f64 x) { return std::asinh(x); }, 64},
    {"aten.acosh.default", [](f64 x) { return std::acosh(x); }, 64},
    {"aten.atanh.default", [](f64 x) { return std::atanh(x); }, 64},
    {"aten.erf.default", [](f64 x) { return std::erf(x); }, 16},
};

void unary(Call& op) {
  const Unary& f = *std::ranges::find(unary_functions, op.name(), &Unary::name);
  const Array& x = op.tensor(0);
  Array y = op.make(x.dims);
  for (size_t i = 0; i < x.data.size(); ++i) {
    const f64 v = f.value(x.data[i]);
    y.data[i] = f.steps == 0 ? v : op.noisy(v, std::abs(v) + 1, f.steps);
  }
  op.give(std::move(y));
}

struct Binary {
  std::string_view name;
  f64 (*value)(f64, f64);
};
constexpr Binary binary_functions[] = {
    {"aten.maximum.default", [](f64 a, f64 b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }},
    {"aten.fmod.Tensor", [](f64 a, f64 b) { return std::fmod(a, b); }},
    {"aten.fmod.Scalar", [](f64 a, f64 b) { return std::fmod(a, b); }},
    {"aten.remainder.Tensor", modulo},
    {"aten.remainder.Scalar", modulo},
    {"aten.atan2.default", [](f64 a, f64 b) { return std::atan2(a, b); }},
    {"aten.mul.Scalar", [](f64 a, f64 b) { return a * b; }},
    {"aten.div.Scalar", [](f64 a, f64 b) { return a / b; }},
    {"aten.logical_xor.default", [](f64 a, f64 b) { return f64((a != 0) != (b != 0)); }},
    {"aten.bitwise_xor.Tensor", [](f64 a, f64 b) { return f64(i64(a) ^ i64(b)); }},
    {"aten.bitwise_xor.Scalar", [](f64 a, f64 b) { return f64(i64(a) ^ i64(b)); }},
    {"aten.bitwise_and.Scalar", [](f64 a, f64 b) { return f64(i64(a) & i64(b)); }},
    {"aten.bitwise_or.Scalar", [](f64 a, f64 b) { return f64(i64(a) | i64(b)); }},
    {"aten.__lshift__.Scalar", [](f64 a, f64 b) { return b >= 0 && b < 64 ? f64(i64(a) << i64(b)) : 0; }},
    {"aten.__rshift__.Scalar", [](f64 a, f64 b) { return f64(i64(a) >> (b >= 0 && b < 64 ? i64(b) : 63)); }},
};

// The second operand of `binary`, a number that shaders have in f32, as a tensor.
Array number_as_array(Call& op, u32 arg) {
  Array out(op.dtype(), {});
  out.data[0] = is_float(op.dtype()) ? f64(f32(op.number(arg))) : op.number(arg);
  return out;
}

void combine(Call& op, const Array& a, const Array& b, const std::function<f64(f64, f64)>& fn) {
  const bool noise = is_float(op.dtype());
  Array y = op.make(broadcast(a.dims, b.dims));
  each(y.dims, [&](const Dims& index, i64 i) {
    const f64 v = fn(at(a, index), at(b, index));
    y.data[size_t(i)] = noise ? op.noisy(v, std::abs(v), 16) : v;
  });
  op.give(std::move(y));
}

void binary(Call& op) {
  const Binary& f = *std::ranges::find(binary_functions, op.name(), &Binary::name);
  combine(op, op.tensor(0), op.name().ends_with(".Scalar") ? number_as_array(op, 1) : op.tensor(1), f.value);
}

void add_scalar(Call& op) {
  const f64 part = op.number(1) * op.number_or(2, 1) * (op.name() == "aten.sub.Scalar" ? -1 : 1);
  combine(op, op.tensor(0), Array(op.dtype(), {}), [&](f64 a, f64) { return a + part; });
}

void divide_by_scalar(Call& op) {
  const std::string mode = op.text_or(2, "");
  combine(op, op.tensor(0), number_as_array(op, 1), [&](f64 a, f64 b) {
    return mode == "floor" ? std::floor(a / b) : mode == "trunc" ? std::trunc(a / b) : a / b;
  });
}

void power_of_scalar(Call& op) {
  const f64 base = op.number(0);
  combine(op, op.tensor(1), Array(op.dtype(), {}), [&](f64 a, f64) {
    const f64 v = std::pow(base, a);
    return is_float(op.dtype()) ? op.noisy(v, std::abs(v), 256) : v;
  });
}

void clamp(Call& op) {
  const Array none(op.dtype(), {});
  const Array &x = op.tensor(0), &low = op.is_null(1) ? none : op.tensor(1),
              &high = op.is_null(2) ? none : op.tensor(2);
  Array y = op.make(broadcast(broadcast(x.dims, low.dims), high.dims));
  each(y.dims, [&](const Dims& index, i64 i) {
    f64 v = at(x, index);
    const f64 l = at(low, index), h = at(high, index);
    if (!op.is_null(1)) v = std::isnan(v) || std::isnan(l) ? NAN : std::max(v, l);
    if (!op.is_null(2)) v = std::isnan(v) || std::isnan(h) ? NAN : std::min(v, h);
    y.data[size_t(i)] = v;
  });
  op.give(std::move(y));
}

void elu(Call& op) {
  const f64 alpha = op.number_or(1, 1), scale = op.number_or(2, 1), input = op.number_or(3, 1);
  combine(op, op.tensor(0), Array(op.dtype(), {}), [&](f64 a, f64) {
    return a > 0 ? a * scale : op.noisy(alpha * std::expm1(a * input) * scale, std::abs(alpha * scale), 16);
  });
}

void fill(Call& op) {
  Array y = op.make(op.tensor(0).dims);
  std::ranges::fill(y.data, op.number(1));
  op.give(std::move(y));
}

constexpr OpRule rules[] = {
    {"aten.sign.default", unary},
    {"aten.floor.default", unary},
    {"aten.ceil.default", unary},
    {"aten.trunc.default", unary},
    {"aten.isnan.default", unary},
    {"aten.isinf.default", unary},
    {"aten.exp2.default", unary},
    {"aten.expm1.default", unary},
    {"aten.log.default", unary},
    {"aten.log2.default", unary},
    {"aten.log1p.default", unary},
    {"aten.reciprocal.default", unary},
    {"aten.tan.default", unary},
    {"aten.asin.default", unary},
    {"aten.acos.default", unary},
    {"aten.atan.default", unary},
    {"aten.sinh.default", unary},
    {"aten.cosh.default", unary},
    {"aten.asinh.default", unary},
    {"aten.acosh.default", unary},
    {"aten.atanh.default", unary},
    {"aten.erf.default", unary},
    {"aten.maximum.default", binary},
    {"aten.fmod.Tensor", binary},
    {"aten.fmod.Scalar", binary},
    {"aten.remainder.Tensor", binary},
    {"aten.remainder.Scalar", binary},
    {"aten.atan2.default", binary},
    {"aten.mul.Scalar", binary},
    {"aten.div.Scalar", binary},
    {"aten.logical_xor.default", binary},
    {"aten.bitwise_xor.Tensor", binary},
    {"aten.bitwise_xor.Scalar", binary},
    {"aten.bitwise_and.Scalar", binary},
    {"aten.bitwise_or.Scalar", binary},
    {"aten.__lshift__.Scalar", binary},
    {"aten.__rshift__.Scalar", binary},
    {"aten.add.Scalar", add_scalar},
    {"aten.sub.Scalar", add_scalar},
    {"aten.div.Scalar_mode", divide_by_scalar},
    {"aten.pow.Scalar", power_of_scalar},
    {"aten.clamp.Tensor", clamp},
    {"aten.elu.default", elu},
    {"aten.fill.Scalar", fill},
};

}  // namespace

extern const OpRules function_rules = rules;

}  // namespace pteron::reference
