// SPDX-License-Identifier: BSD-3-Clause
// Images of 8-bit integers, activations with a scale for each row, blocks of an image, and a few that stand alone.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace pteron::reference {
namespace {

f64 coded(Call& op, f64 scaled, f64 zero) {
  return std::isfinite(scaled) ? std::clamp(std::nearbyint(op.noisy(scaled)) + zero, -128.0, 127.0)
                               : op.anything(-128, 127);
}

// The argument that is a list of two numbers, or of one for both axes.
i64 pair(const Dims& list, size_t i) { return list.at(std::min(i, list.size() - 1)); }

struct Line {
  i64 in, taps, stride, pad, dilation, out;
  // Where tap t of output o lies; −1 if nowhere.
  i64 place(i64 o, i64 t, bool transposed) const {
    const i64 at = transposed ? o + pad - t * dilation : o * stride - pad + t * dilation;
    if (transposed && (at < 0 || at % stride != 0)) return -1;
    const i64 place = transposed ? at / stride : at;
    return place < in ? place : -1;
  }
};

// (x, x scale, x zero, weight, sums, scales, y scale, y zero, bias?, kernel, stride, padding, [output padding,]
// dilation,
//  groups, activation, out); filters are [OC, taps · IC / groups] with channels innermost, depthwise ones [KH, KW, OC].
void convolution(Call& op) {
  const bool transposed = op.name() == "et_vk.q8ta_conv2d_transposed.default";
  const Array &x = op.tensor(0), &w = op.tensor(3), &scales = op.tensor(5);
  const u32 after = transposed ? 1 : 0;
  const bool by_depth = op.name() == "et_vk.q8ta_conv2d_dw.default";
  const i64 groups = op.integer_or(13 + after, 1), channels = x.dim(-3), outs = by_depth ? w.dim(-1) : w.dim(0);
  const std::string activation = op.text_or(14 + after, "none");
  Line lines[2];
  Dims dims = x.dims;
  dims[dims.size() - 3] = outs;
  for (u32 i = 0; i < 2; ++i) {
    Line& l = lines[i];
    l = {x.dim(i64(i) - 2),    pair(op.ints(9), i),          pair(op.ints(10), i),
         pair(op.ints(11), i), pair(op.ints(12 + after), i), 0};
    const i64 reach = l.dilation * (l.taps - 1) + 1;
    l.out = transposed ? (l.in - 1) * l.stride - 2 * l.pad + reach + pair(op.ints(12), i)
                       : (l.in + 2 * l.pad - reach) / l.stride + 1;
    dims[dims.size() - 2 + i] = l.out;
  }
  Array y = op.make(dims);
  const i64 group_in = channels / groups, group_out = outs / groups;
  each({y.size() / std::max<i64>(outs * lines[0].out * lines[1].out, 1), outs, lines[0].out, lines[1].out},
       [&](const Dims& index, i64 i) {
         const i64 group = index[1] / group_out;
         f64 total = 0;
         for (i64 t = 0; t < lines[0].taps * lines[1].taps; ++t) {
           const i64 row = lines[0].place(index[2], t / lines[1].taps, transposed),
                     column = lines[1].place(index[3], t % lines[1].taps, transposed);
           if (row < 0 || column < 0) continue;
           for (i64 c = 0; c < group_in; ++c) {
             const i64 plane = index[0] * channels + group * group_in + c;
             const i64 weight = by_depth ? t * outs + index[1] : index[1] * w.dim(1) + t * group_in + c;
             total += (x.data.at(size_t((plane * lines[0].in + row) * lines[1].in + column)) - op.number(2)) *
                      w.data.at(size_t(weight));
           }
         }
         const f64 bias = op.is_null(8) ? 0 : op.tensor(8).data.at(size_t(index[1]));
         const f64 sum = total * f64(f32(op.number(1))) * scales.data.at(size_t(index[1]));
         f64 v = op.noisy(sum + bias, std::abs(sum) + std::abs(bias), 8);
         if (activation == "relu") v = std::max(v, 0.0);
         if (activation != "relu" && activation != "none") throw std::runtime_error("the activation " + activation);
         y.data[size_t(i)] = coded(op, v / f64(f32(op.number(6))), op.number(7));
       });
  op.give(std::move(y));
}

// (x, x scale, x zero, 1 / y scale, y zero, r, out)
void pixel_shuffle(Call& op) {
  const Array& x = op.tensor(0);
  const i64 r = op.integer(5);
  Dims dims = x.dims;
  dims[dims.size() - 3] /= r * r, dims[dims.size() - 2] *= r, dims[dims.size() - 1] *= r;
  Array y = op.make(dims);
  const i64 channels = y.dim(-3), height = y.dim(-2), width = y.dim(-1);
  for (i64 i = 0; i < y.size(); ++i) {
    const i64 image = i / (channels * height * width), c = i / (height * width) % channels, h = i / width % height,
              w = i % width, from = (image * channels + c) * r * r + h % r * r + w % r;
    const f64 v = x.data.at(size_t((from * (height / r) + h / r) * (width / r) + w / r));
    y.data[size_t(i)] = coded(op, (v - op.number(2)) * op.number(1) * op.number(3), op.number(4));
  }
  op.give(std::move(y));
}

// (x, x scales [M], x zeros [M], weight, sums, scales [groups, N], group, bias?, out)
void linear_rows(Call& op) {
  const Array &x = op.tensor(0), &w = op.tensor(3), &scales = op.tensor(5);
  const i64 depth = x.dim(-1), columns = w.dim(0), group = op.integer(6);
  Dims dims = x.dims;
  dims.back() = columns;
  Array y = op.make(dims);
  for (i64 i = 0; i < y.size(); ++i) {
    const i64 row = i / columns, n = i % columns;
    const f64 s = op.tensor(1).data.at(size_t(row)), zero = op.tensor(2).data.at(size_t(row));
    f64 total = 0, terms = 0;
    for (i64 k = 0; k < depth; ++k) {
      const i64 byte = i64(w.data.at(size_t(n * w.dim(1) + k / 2)));
      const f64 weight = f64(k % 2 == 0 ? byte & 15 : byte >> 4) - 8;
      const f64 q = coded(op, x.data[size_t(row * depth + k)] / s, zero) - zero;
      const f64 term = q * weight * scales.data.at(size_t(k / group * scales.dim(1) + n));
      total += term, terms += std::abs(term) + std::abs(8 * term);
    }
    const f64 bias = op.is_null(7) ? 0 : op.tensor(7).data.at(size_t(n));
    y.data[size_t(i)] = op.noisy(total * s + bias, terms * std::abs(s) + std::abs(bias), f64(depth) + 8);
  }
  op.give(std::move(y));
}

// col2im(x [N, C · kh · kw, L], size, kernel, dilation, padding, stride, out)
void fold(Call& op) {
  const Array& x = op.tensor(0);
  const Dims size = op.ints(1), kernel = op.ints(2), dilation = op.ints(3), padding = op.ints(4), stride = op.ints(5);
  const i64 taps = kernel[0] * kernel[1], planes = count(x.dims) / std::max<i64>(x.dim(-1) * taps, 1);
  const i64 across = (size[1] + 2 * padding[1] - dilation[1] * (kernel[1] - 1) - 1) / stride[1] + 1;
  Dims dims(x.dims.begin(), x.dims.end() - 2);
  dims.insert(dims.end(), {x.dim(-2) / taps, size[0], size[1]});
  Array y = op.make(dims);
  std::vector<f64> scale(y.data.size());
  each({planes, kernel[0], kernel[1], x.dim(-1)}, [&](const Dims& at, i64 i) {
    const i64 row = at[3] / across * stride[0] - padding[0] + at[1] * dilation[0],
              column = at[3] % across * stride[1] - padding[1] + at[2] * dilation[1];
    if (row < 0 || row >= size[0] || column < 0 || column >= size[1]) return;
    const size_t to = size_t((at[0] * size[0] + row) * size[1] + column);
    y.data[to] += x.data[size_t(i)], scale[to] += std::abs(x.data[size_t(i)]);
  });
  for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = op.noisy(y.data[i], scale[i], f64(taps));
  op.give(std::move(y));
}

// (x, stride, offset, out [H · W, 2])
void grid_priors(Call& op) {
  const i64 height = op.tensor(0).dim(-2), width = op.tensor(0).dim(-1);
  Array y = op.make({height * width, 2});
  for (i64 i = 0; i < height * width; ++i) {
    const i64 row = i / width, column = i % width;
    y.data[size_t(2 * i)] = op.noisy((f64(column) + op.number(2)) * op.number(1));
    y.data[size_t(2 * i + 1)] = op.noisy((f64(row) + op.number(2)) * op.number(1));
  }
  op.give(std::move(y));
}

// native_dropout(x, p, train, [out, mask]) of what is not trained
void dropout(Call& op) {
  Array y = op.tensor(0), mask(op.dtype(1), y.dims);
  std::ranges::fill(mask.data, 1);
  op.give(0, std::move(y));
  op.give(1, std::move(mask));
}

constexpr OpRule rules[] = {
    {"et_vk.q8ta_conv2d.default", convolution},
    {"et_vk.q8ta_conv2d_pw.default", convolution},
    {"et_vk.q8ta_conv2d_dw.default", convolution},
    {"et_vk.q8ta_conv2d_transposed.default", convolution},
    {"et_vk.q8ta_pixel_shuffle.default", pixel_shuffle},
    {"et_vk.linear_dq8ca_q4gsw.default", linear_rows},
    {"aten.col2im.default", fold},
    {"et_vk.grid_priors.default", grid_priors},
    {"aten.native_dropout.default", dropout},
};

}  // namespace

extern const OpRules coded_image_rules = rules;

}  // namespace pteron::reference
