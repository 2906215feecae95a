// SPDX-License-Identifier: BSD-3-Clause
// Convolution and pooling, in one or two dimensions.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <limits>

namespace pteron::reference {
namespace {

constexpr f64 infinity = std::numeric_limits<f64>::infinity();

// A list of one number stands for all axes.
i64 item(const Dims& list, size_t i, i64 otherwise) {
  return list.empty() ? otherwise : list[std::min(i, list.size() - 1)];
}

struct Axis {
  i64 in, taps, out, stride, pad, dilation;
  // The first tap of output `o` that is not before the start.
  i64 first(i64 o) const {
    i64 at = o * stride - pad;
    while (at < 0) at += dilation;
    return at;
  }
  // Where tap `t` of output `o` lies, or nothing.
  std::optional<i64> place(i64 o, i64 t, bool transposed) const {
    const i64 from = transposed ? o + pad - t * dilation : o * stride - pad + t * dilation;
    if (transposed && from % stride != 0) return std::nullopt;
    const i64 at = transposed ? from / stride : from;
    return at >= 0 && at < in && from >= 0 ? std::optional(at) : std::nullopt;
  }
};

// Tensors of one dimension are images of height 1, those without a batch a batch of one.
void convolution(Call& op) {
  const Array &x = op.tensor(0), &w = op.tensor(1);
  const bool transposed = op.flag_or(6, false);
  const i64 axes = w.rank() - 2, groups = op.integer_or(8, 1), images = x.rank() == axes + 2 ? x.dim(0) : 1;
  const i64 in_channels = x.dim(-1 - axes), out_channels = transposed ? w.dim(1) * groups : w.dim(0);
  const Dims stride = op.ints(3), pad = op.ints(4), dilation = op.ints(5), out_pad = op.ints(7);
  std::array<Axis, 2> a{Axis{1, 1, 1, 1, 0, 1}, {}};
  for (i64 i = 0; i < axes; ++i) {
    const size_t s = size_t(i);
    Axis& axis = a[size_t(2 - axes + i)];
    axis = {x.dim(i - axes), w.dim(i - axes), 0, item(stride, s, 1), item(pad, s, 0), item(dilation, s, 1)};
    const i64 reach = axis.dilation * (axis.taps - 1) + 1;
    axis.out = transposed ? (axis.in - 1) * axis.stride - 2 * axis.pad + reach + item(out_pad, s, 0)
                          : (axis.in + 2 * axis.pad - reach) / axis.stride + 1;
  }
  Dims dims = x.dims;
  dims[size_t(x.rank() - 1 - axes)] = out_channels;
  for (i64 i = 0; i < axes; ++i) dims[size_t(x.rank() - axes + i)] = a[size_t(2 - axes + i)].out;
  const bool clamped = op.name() == "et_vk.conv_with_clamp.default";
  const f64 low = clamped ? f64(f32(op.number_or(9, -infinity))) : -infinity;
  const f64 high = clamped ? f64(f32(op.number_or(10, infinity))) : infinity;
  const i64 group_in = in_channels / groups, group_out = out_channels / groups, taps = a[0].taps * a[1].taps;
  Array y = op.make(dims);
  each({images, out_channels, a[0].out, a[1].out}, [&](const Dims& index, i64 i) {
    const i64 group = index[1] / group_out, o = index[1] % group_out;
    const f64 bias = op.is_null(2) ? 0 : op.tensor(2).data[size_t(index[1])];
    f64 total = bias, scale = std::abs(bias);
    for (i64 c = 0; c < group_in; ++c)
      for (i64 t = 0; t < taps; ++t) {
        const auto row = a[0].place(index[2], t / a[1].taps, transposed);
        const auto column = a[1].place(index[3], t % a[1].taps, transposed);
        if (!row || !column) continue;
        const i64 channel = group * group_in + c;
        const i64 filter = transposed ? channel * group_out + o : index[1] * group_in + c;
        const f64 term = x.data[size_t(((index[0] * in_channels + channel) * a[0].in + *row) * a[1].in + *column)] *
                         w.data[size_t(filter * taps + t)];
        total += term, scale += std::abs(term);
      }
    const f64 v = op.noisy(total, scale, f64(group_in * taps) + 4);
    y.data[size_t(i)] = std::isnan(v) ? v : std::min(std::max(v, low), high);
  });
  op.give(std::move(y));
}

struct Pool {
  std::array<Axis, 2> axes;
  Dims dims;
};

Pool pool_of(Call& op, const Array& x, bool ceil, const Dims& dilation) {
  const Dims kernel = op.ints(1), stride = op.ints(2), pad = op.ints(3);
  Pool out{{}, x.dims};
  for (size_t i = 0; i < 2; ++i) {
    Axis& a = out.axes[i];
    a = {x.dim(i64(i) - 2), item(kernel, i, 1), 0, 0, item(pad, i, 0), item(dilation, i, 1)};
    a.stride = item(stride, i, a.taps);
    const i64 room = a.in + 2 * a.pad - a.dilation * (a.taps - 1) - 1;
    a.out = (room + (ceil ? a.stride - 1 : 0)) / a.stride + 1;
    if (ceil && (a.out - 1) * a.stride >= a.in + a.pad) --a.out;
    out.dims[out.dims.size() - 2 + i] = a.out;
  }
  return out;
}

void max_pool(Call& op) {
  const bool with_indices = op.name() == "aten.max_pool2d_with_indices.default";
  const Array& x = op.tensor(0);
  const Pool p = pool_of(op, x, op.flag_or(5, false), op.ints(4));
  const auto [h, w] = p.axes;
  Array y(with_indices ? op.dtype(0) : op.dtype(), p.dims), where(DType::i32, p.dims);
  for (i64 i = 0; i < y.size(); ++i) {
    const i64 plane = i / (h.out * w.out);
    f64 best = -infinity;
    i64 found = h.first(i / w.out % h.out) * w.in + w.first(i % w.out);  // if no tap is inside
    bool any = false;
    for (i64 t = 0; t < h.taps * w.taps; ++t) {
      const auto row = h.place(i / w.out % h.out, t / w.taps, false), column = w.place(i % w.out, t % w.taps, false);
      if (!row || !column) continue;
      const f64 v = x.data[size_t((plane * h.in + *row) * w.in + *column)];
      if (!any || v > best || std::isnan(v)) best = v, found = *row * w.in + *column, any = true;
    }
    y.data[size_t(i)] = best;
    where.data[size_t(i)] = f64(found);
  }
  if (!with_indices) return op.give(std::move(y));
  op.give(0, std::move(y));
  op.give(1, std::move(where));
}

void avg_pool(Call& op) {
  const Array& x = op.tensor(0);
  const Pool p = pool_of(op, x, op.flag_or(4, false), {});
  const auto [h, w] = p.axes;
  const bool padded = op.flag_or(5, true);
  Array y = op.make(p.dims);
  for (i64 i = 0; i < y.size(); ++i) {
    const i64 plane = i / (h.out * w.out), top = i / w.out % h.out * h.stride - h.pad,
              left = i % w.out * w.stride - w.pad;
    f64 total = 0, scale = 0;
    i64 inside = 0;
    for (i64 r = std::max<i64>(top, 0); r < std::min(top + h.taps, h.in); ++r)
      for (i64 c = std::max<i64>(left, 0); c < std::min(left + w.taps, w.in); ++c, ++inside) {
        const f64 v = x.data[size_t((plane * h.in + r) * w.in + c)];
        total += v, scale += std::abs(v);
      }
    const i64 area = (std::min(top + h.taps, h.in + h.pad) - top) * (std::min(left + w.taps, w.in + w.pad) - left);
    const f64 divisor = op.is_null(6) ? f64(padded ? area : inside) : op.number(6);
    y.data[size_t(i)] = inside == 0 ? 0 : op.noisy(total / divisor, scale / divisor, f64(inside) + 4);
  }
  op.give(std::move(y));
}

constexpr OpRule rules[] = {
    {"aten.convolution.default", convolution}, {"et_vk.conv_with_clamp.default", convolution},
    {"aten.max_pool2d.default", max_pool},     {"aten.max_pool2d_with_indices.default", max_pool},
    {"aten.avg_pool2d.default", avg_pool},
};

}  // namespace

extern const OpRules image_rules = rules;

}  // namespace pteron::reference
