// SPDX-License-Identifier: BSD-3-Clause
// 4-bit weights, 8-bit activations, and what training needs.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace pteron::reference {
namespace {

// Value k of row n of a 4-bit matrix, −8 to 7. Two share a byte; the first is in its low half, or in its high half.
f64 nibble(const Array& w, i64 n, i64 k, bool low_first) {
  const i64 byte = i64(w.data.at(size_t(n * w.dim(1) + k / 2)));
  return f64((k % 2 == 0) == low_first ? byte & 15 : byte >> 4) - 8;
}

// linear_q4gsw(x, weight, scales [groups, columns], group, bias?, out)
void linear_q4(Call& op) {
  const Array &x = op.tensor(0), &w = op.tensor(1), &scales = op.tensor(2);
  const i64 group = op.integer(3), depth = x.dim(-1), columns = w.dim(0);
  Dims dims = x.dims;
  dims.back() = columns;
  Array y = op.make(dims);
  for (i64 i = 0; i < y.size(); ++i) {
    const i64 row = i / columns, n = i % columns;
    const f64 bias = op.is_null(4) ? 0 : op.tensor(4).data.at(size_t(n));
    f64 total = bias, scale = std::abs(bias), unscaled = 0;
    for (i64 k = 0; k < depth; ++k) {
      const f64 weight = nibble(w, n, k, true) * scales.data.at(size_t(k / group * scales.dim(1) + n));
      const f64 term = x.data[size_t(row * depth + k)] * weight;
      unscaled += std::abs(16 * x.data[size_t(row * depth + k)]);
      // A kernel may add up x and take the offset of 8 off afterwards.
      total += term, scale += std::abs(term) + std::abs(8 * x.data[size_t(row * depth + k)] *
                                                        scales.data[size_t(k / group * scales.dim(1) + n)]);
    }
    y.data[size_t(i)] = op.noisy(total, scale, f64(depth) + 4);
    // It may also scale after adding up, when there is an infinity already.
    if (unscaled > f64(std::numeric_limits<f32>::max())) y.data[size_t(i)] = op.anything(y.data[size_t(i)], NAN);
  }
  op.give(std::move(y));
}

// linear_qcs4w(x, weight, scales [columns], out)
void linear_channels(Call& op) {
  const Array &x = op.tensor(0), &w = op.tensor(1), &scales = op.tensor(2);
  const i64 depth = x.dim(-1), columns = w.dim(0);
  Dims dims = x.dims;
  dims.back() = columns;
  Array y = op.make(dims);
  for (i64 i = 0; i < y.size(); ++i) {
    f64 total = 0, scale = 0;
    for (i64 k = 0; k < depth; ++k) {
      const f64 term = x.data[size_t(i / columns * depth + k)] * nibble(w, i % columns, k, false);
      total += term, scale += std::abs(term);
    }
    const f64 factor = scales.data[size_t(i % columns)];
    y.data[size_t(i)] = op.noisy(total * factor, scale * std::abs(factor), f64(depth) + 4);
  }
  op.give(std::move(y));
}

// linear_q4gsw_backward(dy, weight, scales, group, out): dy · weight, as wide as the result's tensor says.
void linear_q4_backward(Call& op) {
  const Array &dy = op.tensor(0), &w = op.tensor(1), &scales = op.tensor(2);
  const i64 group = op.integer(3), depth = dy.dim(-1), columns = 2 * w.dim(1);
  Dims dims = dy.dims;
  dims.back() = std::min(columns, op.widest().back());
  Array y = op.make(dims);
  for (i64 i = 0; i < y.size(); ++i) {
    const i64 row = i / dims.back(), k = i % dims.back();
    f64 total = 0, scale = 0;
    for (i64 n = 0; n < depth; ++n) {
      const f64 weight = nibble(w, n, k, true) * scales.data.at(size_t(k / group * scales.dim(1) + n));
      const f64 term = dy.data[size_t(row * depth + n)] * weight;
      total += term, scale += std::abs(term);
    }
    y.data[size_t(i)] = op.noisy(total, scale, f64(depth) + 4);
  }
  op.give(std::move(y));
}

// q4gsw_requant(latent [N, K], scales [groups, N], group, out u8[N, ⌈K/2⌉])
void requantise(Call& op) {
  const Array &x = op.tensor(0), &scales = op.tensor(1);
  const i64 group = op.integer(2), depth = x.dim(1);
  Array y = op.make({x.dim(0), (depth + 1) / 2});
  each(x.dims, [&](const Dims& index, i64 i) {
    const f64 scale = scales.data.at(size_t(index[1] / group * scales.dim(1) + index[0]));
    const f64 v = x.data[size_t(i)] / scale, q = scale == 0 || std::isnan(v) ? 0 : std::nearbyint(op.noisy(v));
    const i64 bits = i64(std::clamp(q, -8.0, 7.0)) + 8;
    y.data[size_t(index[0] * y.dim(1) + index[1] / 2)] += f64(index[1] % 2 ? bits << 4 : bits);
  });
  op.give(std::move(y));
}

// embedding_q4gsw(weight [V, E/2], scales [V, groups], group, indices, is_linear_weight, out)
void embedding_q4(Call& op) {
  const Array &w = op.tensor(0), &scales = op.tensor(1), &indices = op.tensor(3);
  const i64 group = op.integer(2), width = 2 * w.dim(1);
  Dims dims = indices.dims;
  dims.push_back(width);
  Array y = op.make(dims);
  for (i64 i = 0; i < y.size(); ++i) {
    const i64 row = i64(indices.data[size_t(i / width)]), k = i % width;
    if (row < 0 || row >= w.dim(0)) throw std::runtime_error("an index is out of range");
    y.data[size_t(i)] =
        op.noisy(nibble(w, row, k, op.flag_or(4, true)) * scales.data[size_t(row * scales.dim(1) + k / group)]);
  }
  op.give(std::move(y));
}

// (de)quantize_per_tensor(x, scale, zero, low, high, …, out)
void quantise(Call& op) {
  const Array& x = op.tensor(0);
  const f64 scale = op.number(1), zero = op.number(2);
  Array y = op.make(x.dims);
  for (size_t i = 0; i < x.data.size(); ++i)
    if (is_float(y.dtype))
      y.data[i] = op.noisy((x.data[i] - zero) * f64(f32(scale)));
    else if (std::isfinite(x.data[i]))
      y.data[i] = std::clamp(std::nearbyint(op.noisy(x.data[i] / scale)) + zero, op.number(3),
                             std::min(op.number(4), op.anything(2147483647, 2147483520)));  // the largest of f32
    else
      y.data[i] = op.anything(op.number(3), op.number(4));
  op.give(std::move(y));
}

// adamw_step(param, m, v, grad, rate, beta1, beta2, eps, decay, correction1, correction2, [param, m, v]): writes its
// arguments; the results are what they are then.
void adamw(Call& op) {
  Array p = op.tensor(0), m = op.tensor(1), v = op.tensor(2);
  const Array g = op.tensor(3);
  const f64 rate = op.number(4), beta1 = op.number(5), beta2 = op.number(6), eps = op.number(7), decay = op.number(8);
  for (size_t i = 0; i < g.data.size(); ++i) {
    const f64 kept = p.data[i] - rate * decay * p.data[i], old_m = m.data[i], old_v = v.data[i], d = g.data[i];
    m.data[i] = op.noisy(beta1 * old_m + (1 - beta1) * d, std::abs(beta1 * old_m) + std::abs((1 - beta1) * d));
    v.data[i] = op.noisy(beta2 * old_v + (1 - beta2) * d * d, std::abs(beta2 * old_v) + std::abs((1 - beta2) * d * d));
    const f64 mean = op.noisy(m.data[i] / op.number(9)), square = op.noisy(v.data[i] / op.number(10));
    const f64 step = rate * mean / (std::sqrt(square) + eps);
    p.data[i] = op.noisy(kept - step, std::abs(kept) + std::abs(step), 16);
  }
  const Array* updated[] = {&p, &m, &v};
  for (u32 i = 0; i < 3; ++i) op.overwrite(i, *updated[i]);
  for (u32 i = 0; i < op.results(); ++i) op.give(i, op.tensor(i));
}

// fused_ce(logits [N, V], labels, rows that count, [loss, dlogits])
void cross_entropy(Call& op) {
  const Array &x = op.tensor(0), &labels = op.tensor(1);
  const f64 rows = op.number(2);
  const i64 width = x.dim(1);
  Array loss(op.dtype(0), {}), dx(op.dtype(1), x.dims);
  f64 scale = 0;
  for (i64 row = 0; row < x.dim(0); ++row) {
    const i64 label = i64(labels.data[size_t(row)]);
    if (label < 0) continue;
    const auto first = x.data.begin() + row * width;
    const f64 most = *std::max_element(first, first + width);
    f64 total = 0;
    for (i64 i = 0; i < width; ++i) total += std::exp(first[i] - most);
    loss.data[0] += (most + std::log(total) - first[label]) / rows;
    scale += (std::abs(most) + std::abs(first[label]) + std::log(total) + 1) / rows;
    for (i64 i = 0; i < width; ++i)
      dx.data[size_t(row * width + i)] =
          op.noisy((std::exp(first[i] - most) / total - (i == label)) / rows, 1 / rows, 64);
  }
  loss.data[0] = op.noisy(loss.data[0], scale, f64(x.size()) + 16);
  op.give(0, std::move(loss));
  op.give(1, std::move(dx));
}

constexpr OpRule rules[] = {
    {"et_vk.linear_q4gsw.default", linear_q4},
    {"et_vk.linear_qcs4w.default", linear_channels},
    {"et_vk.linear_q4gsw_backward.default", linear_q4_backward},
    {"et_vk.q4gsw_requant.default", requantise},
    {"et_vk.embedding_q4gsw.default", embedding_q4},
    {"quantized_decomposed.quantize_per_tensor.default", quantise},
    {"quantized_decomposed.dequantize_per_tensor.default", quantise},
    {"et_vk.adamw_step.default", adamw},
    {"et_vk.fused_ce.default", cross_entropy},
};

}  // namespace

extern const OpRules quantized_rules = rules;

}  // namespace pteron::reference
