// SPDX-License-Identifier: BSD-3-Clause
// 4-bit weights with a scale for each group.
#include "base/text.h"
#include "selftest/trial.h"

#include <algorithm>
#include <cmath>

namespace pteron::selftest {
namespace {

// Weights of [columns, depth], two in a byte (the even one in the low half), and scales of [groups, columns].
struct Packed {
  Array bytes, scales, numbers;
};

Packed packed(u32 columns, u32 depth, u32 group) {
  Packed p{integers({columns, depth / 2}, 0, 255), random({depth / group, columns}, 0.01, 0.1),
           Array({columns, depth})};
  for (u32 n = 0; n < columns; ++n)
    for (u32 k = 0; k < depth; ++k) {
      const u32 byte = u32(p.bytes.at({n, k / 2})), code = k % 2 == 0 ? byte & 15 : byte >> 4;
      p.numbers.at({n, k}) = (f64(code) - 8) * p.scales.at({k / group, n});
    }
  return p;
}

void linear(Trials& trials, std::string_view how, const LoadOptions& options, const Array& x, u32 columns, u32 group,
            bool with_bias) {
  const u32 rows = x.shape[0], depth = x.shape[1];
  Trial& t = trials.emplace_back(str("linear_q4gsw ", how, " ", rows, " × ", columns), 1e-3);
  t.options = options;
  const Packed p = packed(columns, depth, group);
  const Array b = random({columns});
  Array y = product(x, transpose(p.numbers));
  if (with_bias)
    for (size_t i = 0; i < y.size(); ++i) y.v[i] += b.v[i % columns];
  const u32 in = t.give(x), w = t.keep(p.bytes, DType::u8), scales = t.keep(p.scales), size = t.integer(group);
  t.op("et_vk.linear_q4gsw.default", {in, w, scales, size, with_bias ? t.keep(b) : t.null(), t.expect(y)});
}

void linear(Trials& trials, std::string_view route, u32 rows, u32 depth, u32 columns, u32 group, bool with_bias) {
  LoadOptions options;
  options.routes = {str("linear_q4=", route)};
  linear(trials, route, options, random({rows, depth}, -1, 1), columns, group, with_bias);
}

// Numbers that 8 bits hold exactly, as the largest of each 32 is 127 / 64.
void with_fast_math(Trials& trials, u32 rows, u32 depth, u32 columns, bool with_bias) {
  LoadOptions options;
  options.fast_math = true;
  Array x = integers({rows, depth}, -126, 126);
  for (size_t i = 0; i < x.size(); ++i) x.v[i] = (i % depth % 32 == 0 ? 127 : x.v[i]) / 64;
  linear(trials, "in 8 bits", options, x, columns, 32, with_bias);
}

// An 8-bit weight with minima, as converters write it; passes make one linear of it.
void planes(Trials& trials, std::string_view route, u32 rows) {
  constexpr u32 depth = 64, columns = 12, group = 32, groups = depth / group;
  Trial& t = trials.emplace_back(str("linear_q4gsw ", route, " ", rows, " × ", columns, ", two planes"), 1e-3);
  t.options.routes = {str("linear_q4=", route)};
  const Packed high = packed(columns, depth, group);
  Packed low = packed(columns, depth, group);
  low.scales = high.scales;
  const Array x = random({rows, depth}, -1, 1), minima = random({columns, groups}, -0.1, 0.1);
  Array w({columns, depth});
  for (u32 n = 0; n < columns; ++n)
    for (u32 k = 0; k < depth; ++k) {
      const auto code = [&](const Packed& p) { return (u32(p.bytes.at({n, k / 2})) >> k % 2 * 4 & 15) - 8.0; };
      w.at({n, k}) = (16 * code(high) + code(low) + 8) * low.scales.at({k / group, n}) + minima.at({n, k / group});
    }
  const u32 in = t.give(x), scales = t.keep(low.scales), size = t.integer(group);
  const auto made = [&](u32 width) { return t.tensor(DType::f32, {rows, width}); };
  const u32 h = made(columns), l = made(columns), both = made(columns), sum = made(groups), shift = made(columns);
  t.op("et_vk.linear_q4gsw.default", {in, t.keep(low.bytes, DType::u8), scales, size, t.null(), l});
  t.op("et_vk.linear_q4gsw.default", {in, t.keep(high.bytes, DType::u8), scales, size, t.null(), h});
  t.op("aten.add.Tensor", {l, h, t.integer(16), both});
  const u32 cut = t.tensor(DType::f32, {rows, groups, group}), shifted = made(columns), least = made(columns);
  t.op("aten.view_copy.default", {in, t.ints({rows, groups, group}), cut});
  t.op("aten.sum.dim_IntList", {cut, t.ints({-1}), t.boolean(false), t.null(), sum});
  t.op("aten.mm.default", {sum, scales, shift});
  t.op("aten.add.Tensor", {both, shift, t.integer(8), shifted});
  t.op("aten.linear.default", {sum, t.keep(minima), t.null(), least});
  t.op("aten.add.Tensor", {shifted, least, t.integer(1), t.expect(product(x, transpose(w)))});
}

void backward(Trials& trials) {
  Trial& t = trials.emplace_back("linear_q4gsw_backward", 1e-3);
  const Packed p = packed(12, 32, 8);
  const Array dy = random({5, 12}, -1, 1);
  const u32 in = t.give(dy), w = t.keep(p.bytes, DType::u8), scales = t.keep(p.scales), size = t.integer(8);
  t.op("et_vk.linear_q4gsw_backward.default", {in, w, scales, size, t.expect(product(dy, p.numbers))});
}

void one_scale_per_row(Trials& trials) {
  Trial& t = trials.emplace_back("linear_qcs4w", 1e-3);
  const Array x = random({3, 32}, -1, 1), bytes = integers({7, 16}, 0, 255), scales = random({7}, 0.01, 0.1);
  Array w({7, 32});
  for (u32 n = 0; n < 7; ++n)
    for (u32 k = 0; k < 32; ++k) {
      const u32 byte = u32(bytes.at({n, k / 2})), code = k % 2 == 0 ? byte >> 4 : byte & 15;
      w.at({n, k}) = (f64(code) - 8) * scales.v[n];
    }
  t.op("et_vk.linear_qcs4w.default",
       {t.give(x), t.keep(bytes, DType::u8), t.keep(scales), t.expect(product(x, transpose(w)))});
}

void dynamic(Trials& trials) {
  Trial& t = trials.emplace_back("linear_dq8ca_q4gsw", 1e-3);
  const Packed p = packed(8, 32, 16);
  const Array x = random({3, 32}), zeros = integers({3}, -9, 9), sums({2, 8});
  const Array steps({3}, {0.015625, 0.03125, 0.0625});
  Array rounded(x.shape);
  for (u32 i = 0; i < x.size(); ++i) {
    const f64 step = steps.v[i / 32], zero = zeros.v[i / 32];
    rounded.v[i] = (std::clamp(std::nearbyint(x.v[i] / step) + zero, -128.0, 127.0) - zero) * step;
  }
  const u32 in = t.give(x), scale = t.give(steps), zero = t.give(zeros, DType::i8);
  const u32 w = t.keep(p.bytes, DType::u8), weight_sums = t.keep(sums, DType::i32), scales = t.keep(p.scales);
  t.op("et_vk.linear_dq8ca_q4gsw.default", {in, scale, zero, w, weight_sums, scales, t.integer(16), t.null(),
                                            t.expect(product(rounded, transpose(p.numbers)))});
}

void embedding(Trials& trials) {
  Trial& t = trials.emplace_back("embedding_q4gsw");
  const Array bytes = integers({9, 16}, 0, 255), scales = random({9, 2}, 0.1, 1), tokens = integers({5}, 0, 8);
  Array y({5, 32});
  for (u32 i = 0; i < 5; ++i)
    for (u32 d = 0; d < 32; ++d) {
      const u32 row = u32(tokens.v[i]), byte = u32(bytes.at({row, d / 2}));
      y.at({i, d}) = (f64(d % 2 == 0 ? byte & 15 : byte >> 4) - 8) * scales.at({row, d / 16});
    }
  const u32 w = t.keep(bytes, DType::u8), s = t.keep(scales), group = t.integer(16), in = t.give(tokens, DType::i32);
  t.op("et_vk.embedding_q4gsw.default", {w, s, group, in, t.boolean(true), t.expect(y)});
}

void requantize(Trials& trials) {
  Trial& t = trials.emplace_back("q4gsw_requant", 0);
  const Array x = random({5, 16}, -1, 1);
  Array y({5, 8});
  for (u32 n = 0; n < 5; ++n)
    for (u32 k = 0; k < 16; ++k)
      y.at({n, k / 2}) += (std::clamp(std::nearbyint(x.at({n, k}) / 0.125), -8.0, 7.0) + 8) * (k % 2 == 0 ? 1 : 16);
  const u32 in = t.give(x), scales = t.keep(map(Array({2, 5}), [](f64) { return 0.125; }));
  t.op("et_vk.q4gsw_requant.default", {in, scales, t.integer(8), t.expect(y, DType::u8)});
}

}  // namespace

void add_nibbles(Trials& trials, bool subgroups) {
  for (std::string_view route : routes_of("linear_q4", subgroups)) {
    linear(trials, route, 1, 64, 12, 32, false);
    linear(trials, route, 1, 96, 404, 32, true);
    linear(trials, route, 3, 64, 12, 32, true);
    linear(trials, route, 37, 64, 36, 16, false);
    planes(trials, route, 1);
    planes(trials, route, 5);
  }
  with_fast_math(trials, 9, 64, 12, false);
  with_fast_math(trials, 37, 160, 404, true);
  backward(trials);
  one_scale_per_row(trials);
  dynamic(trials);
  embedding(trials);
  requantize(trials);
}

}  // namespace pteron::selftest
