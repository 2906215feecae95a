// SPDX-License-Identifier: BSD-3-Clause
// Numbers as integers with a scale and a zero point that are tensors, and what computes with such integers.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace pteron::reference {
namespace {

// How a tensor is cut into blocks that share a scale: the size of one, by axis.
struct Blocks {
  Dims sizes;
  // Which block an element is of.
  size_t of(const Dims& dims, const Dims& index) const {
    i64 block = 0;
    for (size_t a = 0; a < dims.size(); ++a) block = block * (dims[a] / sizes[a]) + index[a] / sizes[a];
    return size_t(block);
  }
};

Blocks whole(const Array& x) { return {x.dims}; }
Blocks along(const Array& x, i64 axis) {
  Blocks b{x.dims};
  b.sizes[size_t(axis)] = 1;
  return b;
}
Blocks rows(const Array& x) {
  Blocks b{Dims(x.dims.size(), 1)};
  b.sizes.back() = x.dim(-1);
  return b;
}
Blocks given(const Array& x, const Dims& sizes) {
  Blocks b{sizes};
  for (size_t a = 0; a < x.dims.size(); ++a) b.sizes.at(a) = std::min(sizes.at(a), x.dims[a]);
  return b;
}

// An integer of a number that may be none.
f64 code(Call& op, f64 scaled, f64 zero, f64 low, f64 high, bool zero_first = false) {
  if (!std::isfinite(scaled)) return op.anything(low, high);
  const f64 v = op.noisy(scaled);
  return std::clamp(zero_first ? std::nearbyint(v + zero) : std::nearbyint(v) + zero, low, high);
}

// op(x, scales, zeros?, …) where the range of the integers is `range` and the argument behind it.
void convert(Call& op, const Blocks& blocks, u32 scales, u32 range) {
  const Array &x = op.tensor(0), &scale = op.tensor(scales);
  const Array* zeros = op.is_null(scales + 1) || op.tensor(scales + 1).size() == 0 ? nullptr : &op.tensor(scales + 1);
  const DType holds = is_float(op.dtype()) ? x.dtype : op.dtype();
  if (holds == DType::i32) throw std::runtime_error("the reference knows no integers of four bytes");
  const f64 low = op.number_or(range, holds == DType::u8 ? 0 : -128),
            high = op.number_or(range + 1, holds == DType::u8 ? 255 : 127);
  const bool zero_first = op.name() == "quantized_decomposed.quantize_per_token.default";
  Array y = op.make(x.dims);
  each(x.dims, [&](const Dims& index, i64 i) {
    const size_t block = blocks.of(x.dims, index);
    const f64 s = scale.data.at(block), zero = zeros ? zeros->data.at(block) : 0, v = x.data[size_t(i)];
    y.data[size_t(i)] = is_float(y.dtype) ? op.noisy((v - zero) * s) : code(op, v / s, zero, low, high, zero_first);
  });
  op.give(std::move(y));
}

void per_tensor(Call& op) { convert(op, whole(op.tensor(0)), 1, 3); }
void per_channel(Call& op) { convert(op, along(op.tensor(0), op.axis(3, op.tensor(0).rank())), 1, 4); }
void per_token(Call& op) { convert(op, rows(op.tensor(0)), 1, 3); }
void affine(Call& op) { convert(op, given(op.tensor(0), op.ints(1)), 2, 5); }

// choose_qparams(x, low, high, eps, dtype, [scale, zero])
void choose(Call& op) {
  const Array& x = op.tensor(0);
  const f64 low = op.number(1), high = op.number(2);
  f64 least = 0, most = 0;
  bool is_number = true;
  for (f64 v : x.data) is_number &= !std::isnan(v), least = std::min(least, v), most = std::max(most, v);
  Array scale(op.dtype(0), {1}), zero(op.dtype(1), {1});
  scale.data[0] = is_number ? op.noisy(std::max((most - least) / (high - low), op.number_or(3, 0x1p-23))) : NAN;
  zero.data[0] = std::isfinite(scale.data[0])
                     ? std::clamp(low - std::nearbyint(op.noisy(least / scale.data[0])), low, high)
                     : op.anything(low, high);
  op.give(0, std::move(scale));
  op.give(1, std::move(zero));
}

f64 active(f64 v, const std::string& activation) {
  if (activation == "relu") return std::max(v, 0.0);
  if (activation != "none") throw std::runtime_error("the reference does not know the activation " + activation);
  return v;
}

struct Layer {
  u32 weight = 3, scales = 5, bias = 6;
  bool codes = true;  // x holds integers
};

// x [.., K] · weight [N, K] and a scale for each column; `store` makes the result's element.
template <class Fn>
void linear(Call& op, const Layer& layer, Fn store) {
  const Array &x = op.tensor(0), &w = op.tensor(layer.weight), &scales = op.tensor(layer.scales);
  const Array* bias = layer.bias == 0 || op.is_null(layer.bias) ? nullptr : &op.tensor(layer.bias);
  const f64 scale = layer.codes ? f64(f32(op.number(1))) : 1, zero = layer.codes ? op.number(2) : 0;
  const i64 depth = w.dim(1), columns = w.dim(0);
  Dims dims = x.dims;
  dims.back() = columns;
  Array y = op.make(dims);
  for (i64 i = 0; i < y.size(); ++i) {
    const i64 row = i / columns, column = i % columns;
    f64 total = 0, terms = 0;
    for (i64 k = 0; k < depth; ++k) {
      const f64 term = (x.data[size_t(row * depth + k)] - zero) * w.data[size_t(column * depth + k)];
      total += term, terms += std::abs(term);
    }
    const f64 factor = scale * scales.data[size_t(column)], shift = bias ? bias->data[size_t(column)] : 0;
    const f64 scope = (layer.codes ? std::abs(total) : terms) * std::abs(factor) + std::abs(shift);
    y.data[size_t(i)] = store(op.noisy(total * factor + shift, scope, layer.codes ? 8 : f64(depth) + 8));
  }
  op.give(std::move(y));
}

void weight_only(Call& op) {
  linear(op, {1, 2, 0, false}, [](f64 v) { return v; });
}
void static_input(Call& op) {
  linear(op, {}, [](f64 v) { return v; });
}
// (x, x scale, x zero, weight, sums, scales, y scale, y zero, bias?, activation)
void static_both(Call& op) {
  const std::string activation = op.text_or(9, "none");
  linear(op, {3, 5, 8},
         [&](f64 v) { return code(op, active(v, activation) / f64(f32(op.number(6))), op.number(7), -128, 127); });
}

// (a, b, a scale, a zero, b scale, b zero, scale, zero, alpha)
void add(Call& op) {
  const Array &a = op.tensor(0), &b = op.tensor(1);
  const Dims dims = broadcast(a.dims, b.dims);
  Array y = op.make(dims);
  each(dims, [&](const Dims& index, i64 i) {
    const f64 x = (at(a, index) - op.number(3)) * op.number(2), z = (at(b, index) - op.number(5)) * op.number(4);
    const f64 alpha = op.number_or(8, 1), sum = op.noisy(x + alpha * z, std::abs(x) + std::abs(alpha * z), 8);
    y.data[size_t(i)] = code(op, sum / op.number(6), op.number(7), -128, 127);
  });
  op.give(std::move(y));
}
// (x, x scale, x zero, scale, zero)
void relu(Call& op) {
  Array y = op.make(op.tensor(0).dims);
  for (size_t i = 0; i < y.data.size(); ++i) {
    const f64 v = std::max((op.tensor(0).data[i] - op.number(2)) * op.number(1), 0.0);
    y.data[i] = code(op, op.noisy(v) / op.number(3), op.number(4), -128, 127);
  }
  op.give(std::move(y));
}

constexpr OpRule rules[] = {
    {"quantized_decomposed.quantize_per_tensor.tensor", per_tensor},
    {"quantized_decomposed.quantize_per_channel.default", per_channel},
    {"quantized_decomposed.quantize_per_token.default", per_token},
    {"torchao.quantize_affine.default", affine},
    {"quantized_decomposed.dequantize_per_tensor.tensor", per_tensor},
    {"quantized_decomposed.dequantize_per_channel.default", per_channel},
    {"quantized_decomposed.dequantize_per_token.default", per_token},
    {"torchao.dequantize_affine.default", affine},
    {"quantized_decomposed.choose_qparams.tensor", choose},
    {"aten._weight_int8pack_mm.default", weight_only},
    {"et_vk.linear_q8ta_q8csw.default", static_input},
    {"et_vk.q8ta_linear.default", static_both},
    {"et_vk.q8ta_linear_gemv.default", static_both},
    {"et_vk.q8ta_add.default", add},
    {"et_vk.q8ta_relu.default", relu},
};

}  // namespace

extern const OpRules code_rules = rules;

}  // namespace pteron::reference
