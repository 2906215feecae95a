// SPDX-License-Identifier: BSD-3-Clause
// Convolution and pooling, in one to three dimensions.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <cmath>
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

// Tensors of fewer dimensions are volumes of depth 1 and height 1, those without a batch a batch of one.
void convolution(Call& op) {
  const Array &x = op.tensor(0), &w = op.tensor(1);
  const bool transposed = op.flag_or(6, false);
  const i64 axes = w.rank() - 2, groups = op.integer_or(8, 1), images = x.rank() == axes + 2 ? x.dim(0) : 1;
  const i64 in_channels = x.dim(-1 - axes), out_channels = transposed ? w.dim(1) * groups : w.dim(0);
  const Dims stride = op.ints(3), pad = op.ints(4), dilation = op.ints(5), out_pad = op.ints(7);
  std::array<Axis, 3> a{Axis{1, 1, 1, 1, 0, 1}, Axis{1, 1, 1, 1, 0, 1}, {}};
  for (i64 i = 0; i < axes; ++i) {
    const size_t s = size_t(i);
    Axis& axis = a[size_t(3 - axes + i)];
    axis = {x.dim(i - axes), w.dim(i - axes), 0, item(stride, s, 1), item(pad, s, 0), item(dilation, s, 1)};
    const i64 reach = axis.dilation * (axis.taps - 1) + 1;
    axis.out = transposed ? (axis.in - 1) * axis.stride - 2 * axis.pad + reach + item(out_pad, s, 0)
                          : (axis.in + 2 * axis.pad - reach) / axis.stride + 1;
  }
  Dims dims = x.dims;
  dims[size_t(x.rank() - 1 - axes)] = out_channels;
  for (i64 i = 0; i < axes; ++i) dims[size_t(x.rank() - axes + i)] = a[size_t(3 - axes + i)].out;
  const bool clamped = op.name() == "et_vk.conv_with_clamp.default";
  const f64 low = clamped ? f64(f32(op.number_or(9, -infinity))) : -infinity;
  const f64 high = clamped ? f64(f32(op.number_or(10, infinity))) : infinity;
  const i64 group_in = in_channels / groups, group_out = out_channels / groups,
            taps = a[0].taps * a[1].taps * a[2].taps;
  Array y = op.make(dims);
  each({images, out_channels, a[0].out, a[1].out, a[2].out}, [&](const Dims& index, i64 i) {
    const i64 group = index[1] / group_out, o = index[1] % group_out;
    const f64 bias = op.is_null(2) ? 0 : op.tensor(2).data[size_t(index[1])];
    f64 total = bias, scale = std::abs(bias);
    bool endless = false;
    for (i64 c = 0; c < group_in; ++c)
      for (i64 t = 0; t < taps; ++t) {
        const auto slice = a[0].place(index[2], t / (a[1].taps * a[2].taps), transposed);
        const auto row = a[1].place(index[3], t / a[2].taps % a[1].taps, transposed);
        const auto column = a[2].place(index[4], t % a[2].taps, transposed);
        const i64 channel = group * group_in + c;
        const i64 filter = transposed ? channel * group_out + o : index[1] * group_in + c;
        const f64 weight = w.data[size_t(filter * taps + t)];
        if (!slice || !row || !column) {
          endless |= !std::isfinite(weight);
          continue;
        }
        const i64 plane = (index[0] * in_channels + channel) * a[0].in + *slice;
        const f64 term = x.data[size_t((plane * a[1].in + *row) * a[2].in + *column)] * weight;
        total += term, scale += std::abs(term);
      }
    f64 v = op.noisy(total, scale, f64(group_in * taps) + 4);
    if (endless) v = op.anything(v, NAN);  // times the zero of a margin, or left out: torch does both
    y.data[size_t(i)] = std::isnan(v) ? v : std::min(std::max(v, low), high);
  });
  op.give(std::move(y));
}

struct Pool {
  std::array<Axis, 3> axes{Axis{1, 1, 1, 1, 0, 1}, Axis{1, 1, 1, 1, 0, 1}, Axis{1, 1, 1, 1, 0, 1}};
  Dims dims;

  i64 volume() const { return axes[0].out * axes[1].out * axes[2].out; }
  Dims place(i64 i) const {
    return {i / (axes[1].out * axes[2].out) % axes[0].out, i / axes[2].out % axes[1].out, i % axes[2].out};
  }
  // In the volume that output i is made from.
  i64 source(i64 i, i64 d, i64 h, i64 w) const {
    return ((i / volume() * axes[0].in + d) * axes[1].in + h) * axes[2].in + w;
  }
};

// "aten.avg_pool2d.default" has 2 axes.
i64 axes_of(Call& op) { return op.name()[op.name().find("pool") + 4] - '0'; }

Pool pool_of(Call& op, const Array& x, bool ceil, const Dims& dilation) {
  const Dims kernel = op.ints(1), stride = op.ints(2), pad = op.ints(3);
  const i64 axes = axes_of(op);
  Pool out;
  out.dims = x.dims;
  for (i64 i = 0; i < axes; ++i) {
    const size_t s = size_t(i);
    Axis& a = out.axes[size_t(3 - axes + i)];
    a = {x.dim(i - axes), item(kernel, s, 1), 0, 0, item(pad, s, 0), item(dilation, s, 1)};
    a.stride = item(stride, s, a.taps);
    const i64 room = a.in + 2 * a.pad - a.dilation * (a.taps - 1) - 1;
    a.out = (room + (ceil ? a.stride - 1 : 0)) / a.stride + 1;
    if (ceil && (a.out - 1) * a.stride >= a.in + a.pad) --a.out;
    out.dims[out.dims.size() - size_t(axes - i)] = a.out;
  }
  return out;
}

void max_pool(Call& op) {
  const bool with_indices = op.name().find("with_indices") != std::string::npos;
  const Array& x = op.tensor(0);
  const Pool p = pool_of(op, x, op.flag_or(5, false), op.ints(4));
  const auto [d, h, w] = p.axes;
  Array y(with_indices ? op.dtype(0) : op.dtype(), p.dims), where(DType::i32, p.dims);
  for (i64 i = 0; i < y.size(); ++i) {
    const Dims at = p.place(i);
    const i64 start = p.source(i, 0, 0, 0);
    f64 best = -infinity;
    i64 found = p.source(i, d.first(at[0]), h.first(at[1]), w.first(at[2])) - start;  // if no tap is inside
    bool any = false;
    for (i64 t = 0; t < d.taps * h.taps * w.taps; ++t) {
      const auto slice = d.place(at[0], t / (h.taps * w.taps), false), row = h.place(at[1], t / w.taps % h.taps, false),
                 column = w.place(at[2], t % w.taps, false);
      if (!slice || !row || !column) continue;
      const i64 from = p.source(i, *slice, *row, *column);
      const f64 v = x.data[size_t(from)];
      if (!any || v > best || std::isnan(v)) best = v, found = from - start, any = true;
    }
    y.data[size_t(i)] = best;
    where.data[size_t(i)] = f64(found);
  }
  if (!with_indices) return op.give(std::move(y));
  op.give(0, std::move(y));
  op.give(1, std::move(where));
}

// The average of x from `first` to `end` in each axis.
struct Box {
  Dims first, end;
};
void average(Call& op, const Array& x, const Pool& p, Array& y, i64 i, const Box& box, std::optional<f64> divisor) {
  f64 total = 0, scale = 0;
  i64 inside = 0;
  for (i64 d = box.first[0]; d < box.end[0]; ++d)
    for (i64 h = box.first[1]; h < box.end[1]; ++h)
      for (i64 w = box.first[2]; w < box.end[2]; ++w, ++inside) {
        const f64 v = x.data[size_t(p.source(i, d, h, w))];
        total += v, scale += std::abs(v);
      }
  const f64 by = divisor.value_or(f64(inside));
  y.data[size_t(i)] = inside == 0 ? 0 : op.noisy(op.noisy(total, scale, f64(inside)) / by);
}

void avg_pool(Call& op) {
  const Array& x = op.tensor(0);
  const Pool p = pool_of(op, x, op.flag_or(4, false), {});
  const bool padded = op.flag_or(5, true), fixed = axes_of(op) > 1 && !op.is_null(6);
  Array y = op.make(p.dims);
  for (i64 i = 0; i < y.size(); ++i) {
    const Dims at = p.place(i);
    Box box{{0, 0, 0}, {0, 0, 0}};
    f64 area = 1;
    for (size_t k = 0; k < 3; ++k) {
      const Axis& a = p.axes[k];
      const i64 start = at[k] * a.stride - a.pad;
      box.first[k] = std::max<i64>(start, 0);
      box.end[k] = std::min(start + a.taps, a.in);
      area *= f64(std::min(start + a.taps, a.in + a.pad) - start);
    }
    average(op, x, p, y, i, box, fixed ? std::optional(op.number(6)) : padded ? std::optional(area) : std::nullopt);
  }
  op.give(std::move(y));
}

// Windows from i · in / out, rounded down, to (i + 1) · in / out, rounded up.
void adaptive_avg_pool(Call& op) {
  const Array& x = op.tensor(0);
  const Dims sizes = op.ints(1);
  const i64 axes = axes_of(op);
  Pool p;
  p.dims = x.dims;
  for (i64 i = 0; i < axes; ++i) {
    Axis& a = p.axes[size_t(3 - axes + i)];
    a.in = x.dim(i - axes);
    a.out = p.dims[p.dims.size() - size_t(axes - i)] = sizes[size_t(i)];
  }
  Array y = op.make(p.dims);
  for (i64 i = 0; i < y.size(); ++i) {
    const Dims at = p.place(i);
    Box box{{0, 0, 0}, {0, 0, 0}};
    for (size_t k = 0; k < 3; ++k) {
      const Axis& a = p.axes[k];
      box.first[k] = at[k] * a.in / a.out;
      box.end[k] = ((at[k] + 1) * a.in + a.out - 1) / a.out;
    }
    average(op, x, p, y, i, box, std::nullopt);
  }
  op.give(std::move(y));
}

constexpr OpRule rules[] = {
    {"aten.convolution.default", convolution},
    {"et_vk.conv_with_clamp.default", convolution},
    {"aten.max_pool2d.default", max_pool},
    {"aten.max_pool2d_with_indices.default", max_pool},
    {"aten.max_pool3d_with_indices.default", max_pool},
    {"aten.avg_pool1d.default", avg_pool},
    {"aten.avg_pool2d.default", avg_pool},
    {"aten.avg_pool3d.default", avg_pool},
    {"aten.adaptive_avg_pool1d.default", adaptive_avg_pool},
    {"aten._adaptive_avg_pool2d.default", adaptive_avg_pool},
    {"aten._adaptive_avg_pool3d.default", adaptive_avg_pool},
};

}  // namespace

extern const OpRules image_rules = rules;

}  // namespace pteron::reference
