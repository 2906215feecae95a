// SPDX-License-Identifier: BSD-3-Clause
// 8-bit integers with scales. All scales are powers of two, so that sums are exact; only the last rounding may differ.
#include "selftest/trial.h"

#include <algorithm>
#include <cmath>

namespace pteron::selftest {
namespace {

struct Scale {
  f64 step;
  i32 zero;
  f64 number(f64 code) const { return (code - zero) * step; }
  f64 code(f64 number) const { return std::clamp(std::nearbyint(number / step) + zero, -128.0, 127.0); }
};
constexpr Scale x_scale{0.03125, -5}, y_scale{0.25, 3};

Array numbers(const Array& codes) {
  return map(codes, [](f64 c) { return x_scale.number(c); });
}
Array codes(const Array& y) {
  return map(y, [](f64 v) { return y_scale.code(v); });
}

u32 step(Trial& t, const Scale& s) { return t.number(s.step); }
u32 zero(Trial& t, const Scale& s) { return t.integer(s.zero); }

void linear(Trials& trials, u32 rows, u32 depth, u32 columns) {
  Trial& t = trials.emplace_back("q8ta_linear of " + std::to_string(depth));
  t.slack = 1;
  const Array x = integers({rows, depth}, -128, 127), w = integers({columns, depth}, -127, 127);
  const Array b = random({columns}), sums({columns}), scales = map(Array({columns}), [](f64) { return 0.0078125; });
  Array y = product(numbers(x), transpose(w));
  for (size_t i = 0; i < y.size(); ++i) y.v[i] = y.v[i] * 0.0078125 + b.v[i % columns];
  const u32 in = t.give(x, DType::i8), xs = step(t, x_scale), xz = zero(t, x_scale), weight = t.keep(w, DType::i8);
  const u32 weight_sums = t.keep(sums, DType::i32), weight_scales = t.keep(scales), bias = t.keep(b);
  const u32 ys = step(t, y_scale), yz = zero(t, y_scale);
  t.op("et_vk.q8ta_linear.default",
       {in, xs, xz, weight, weight_sums, weight_scales, ys, yz, bias, t.text("none"), t.expect(codes(y), DType::i8)});
}

// Filters are [OC, taps · IC], channels innermost.
void convolution(Trials& trials) {
  Trial& t = trials.emplace_back("q8ta_conv2d");
  t.slack = 1;
  const Array x = integers({1, 3, 5, 6}, -128, 127), w = integers({4, 12}, -127, 127), sums({4});
  const Array scales = map(Array({4}), [](f64) { return 0.0078125; });
  Array y({1, 4, 4, 5});
  for (u32 i = 0; i < y.size(); ++i) {
    const u32 o = i / 20, row = i / 5 % 4, column = i % 5;
    for (u32 k = 0; k < 12; ++k)
      y.v[i] += w.at({o, k}) * 0.0078125 * x_scale.number(x.at({0, k % 3, row + k / 6, column + k / 3 % 2}));
  }
  const u32 in = t.give(x, DType::i8), xs = step(t, x_scale), xz = zero(t, x_scale), weight = t.keep(w, DType::i8);
  const u32 weight_sums = t.keep(sums, DType::i32), weight_scales = t.keep(scales);
  const u32 ys = step(t, y_scale), yz = zero(t, y_scale), two = t.ints({2, 2}), one = t.ints({1, 1});
  t.op("et_vk.q8ta_conv2d.default", {in, xs, xz, weight, weight_sums, weight_scales, ys, yz, t.null(), two, one,
                                     t.ints({0, 0}), one, t.integer(1), t.text("none"), t.expect(codes(y), DType::i8)});
}

void add(Trials& trials) {
  Trial& t = trials.emplace_back("q8ta_add");
  t.slack = 1;
  const Array a = integers({3, 7}, -128, 127), b = integers({7}, -128, 127);
  Array y(a.shape);
  for (size_t i = 0; i < y.size(); ++i) y.v[i] = x_scale.number(a.v[i]) + x_scale.number(b.v[i % 7]);
  const u32 left = t.give(a, DType::i8), right = t.give(b, DType::i8), xs = step(t, x_scale), xz = zero(t, x_scale);
  t.op("et_vk.q8ta_add.default",
       {left, right, xs, xz, xs, xz, step(t, y_scale), zero(t, y_scale), t.number(1), t.expect(codes(y), DType::i8)});
}

void quantize(Trials& trials) {
  const Array x = random({3, 7}, -40, 40);
  Trial& to = trials.emplace_back("quantize_per_tensor");
  const u32 in = to.give(x), scale = step(to, y_scale), zero_point = zero(to, y_scale);
  to.op("quantized_decomposed.quantize_per_tensor.default",
        {in, scale, zero_point, to.integer(-128), to.integer(127), to.null(), to.expect(codes(x), DType::i8)});
  Trial& from = trials.emplace_back("dequantize_per_tensor");
  const Array bytes = integers({3, 7}, -128, 127);
  const u32 given = from.give(bytes, DType::i8), s = step(from, x_scale), z = zero(from, x_scale);
  from.op("quantized_decomposed.dequantize_per_tensor.default",
          {given, s, z, from.integer(-128), from.integer(127), from.null(), from.null(), from.expect(numbers(bytes))});
}

void choose(Trials& trials) {
  Trial& t = trials.emplace_back("choose_qparams", 1e-5);
  const Array x = random({5, 13}, -3, 5);
  const f64 least = std::min(0.0, std::ranges::min(x.v)), most = std::max(0.0, std::ranges::max(x.v));
  const f64 scale = (most - least) / 255, zero_point = std::clamp(-128 - std::nearbyint(least / scale), -128.0, 127.0);
  const u32 in = t.give(x), low = t.integer(-128), high = t.integer(127), eps = t.number(1e-6);
  t.op("quantized_decomposed.choose_qparams.tensor",
       {in, low, high, eps, t.null(),
        t.list({t.expect(Array({1}, {scale})), t.expect(Array({1}, {zero_point}), DType::i32)})});
}

}  // namespace

void add_bytes(Trials& trials) {
  linear(trials, 5, 16, 12);
  linear(trials, 3, 13, 7);
  convolution(trials);
  add(trials);
  quantize(trials);
  choose(trials);
}

}  // namespace pteron::selftest
