// SPDX-License-Identifier: BSD-3-Clause
// Variances, batch statistics and distances.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <cmath>

namespace pteron::reference {
namespace {

struct Moments {
  f64 sum = 0, squares = 0, scale = 0, largest = 0;
  i64 count = 0;
  f64 mean() const { return sum / f64(count); }
};

// The elements of x by where they end up when some axes go.
std::vector<Moments> moments_of(const Array& x, const std::vector<bool>& gone) {
  Dims kept = x.dims;
  for (size_t a = 0; a < gone.size(); ++a)
    if (gone[a]) kept[a] = 1;
  std::vector<Moments> out(size_t(count(kept)));
  const auto visit = [&](auto fn) {
    each(x.dims, [&](const Dims& index, i64 i) {
      i64 row = 0;
      for (size_t a = 0; a < index.size(); ++a) row = row * kept[a] + (gone[a] ? 0 : index[a]);
      fn(out[size_t(row)], x.data[size_t(i)]);
    });
  };
  visit([](Moments& m, f64 v) {
    m.sum += v, ++m.count;
    m.scale += std::abs(v), m.largest = std::max(m.largest, std::abs(v));
  });
  visit([](Moments& m, f64 v) { m.squares += std::pow(v - m.mean(), 2); });
  return out;
}

// var(x, axes?, correction or unbiased, keepdim), and with the mean
void variance(Call& op) {
  const Array& x = op.tensor(0);
  const Dims axes = op.ints(1);
  std::vector<bool> gone(x.dims.size(), axes.empty());
  for (i64 axis : axes)
    if (x.rank() > 0) gone[size_t(axis < 0 ? axis + x.rank() : axis)] = true;
  const f64 correction = op.number_or(2, 1);  // true is 1
  const bool keep = op.flag_or(3, false), both = op.name() == "aten.var_mean.correction";
  Dims dims;
  for (size_t a = 0; a < gone.size(); ++a)
    if (keep || !gone[a]) dims.push_back(gone[a] ? 1 : x.dims[a]);
  Array spread(both ? op.dtype(0) : op.dtype(), dims), mean(spread.dtype, dims);
  const std::vector<Moments> rows = moments_of(x, gone);
  for (size_t i = 0; i < rows.size() && i < spread.data.size(); ++i) {
    const Moments& m = rows[i];
    const f64 divisor = std::max(f64(m.count) - correction, 0.0), value = m.squares / divisor;
    // Rounding moves the mean by a part of the largest element, and each distance from it.
    const f64 off = 2 * m.largest * std::sqrt(m.squares * f64(m.count)) * 0x1p-24 / divisor;
    spread.data[i] = op.noisy(value, value + off, f64(m.count) + 16);
    mean.data[i] = op.noisy(m.mean(), m.scale / f64(m.count), f64(m.count) + 2);
  }
  if (!both) return op.give(std::move(spread));
  op.give(0, std::move(spread));
  op.give(1, std::move(mean));
}

// (x − mean) / √(variance + eps) · gain + shift by the batch's own statistics:
// op(x, weight?, bias?, [mean, variance,] training, momentum, eps)
void batch_norm(Call& op) {
  const Array& x = op.tensor(0);
  const f64 eps = op.number(op.name().ends_with("no_stats") ? 5 : 7);
  std::vector<bool> gone(x.dims.size(), true);
  gone.at(1) = false;
  const std::vector<Moments> channels = moments_of(x, gone);
  const i64 plane = x.size() / std::max<i64>(x.dim(0) * x.dim(1), 1);
  Array y(op.dtype(0), x.dims), mean(op.dtype(1), {x.dim(1)}), rstd(op.dtype(2), {x.dim(1)});
  const auto factor_of = [&](const Moments& m) { return 1 / std::sqrt(m.squares / f64(m.count) + eps); };
  for (size_t c = 0; c < channels.size(); ++c) {
    mean.data[c] = op.noisy(channels[c].mean(), channels[c].scale / f64(channels[c].count), 64);
    rstd.data[c] = op.noisy(factor_of(channels[c]), factor_of(channels[c]), 64);
  }
  for (i64 i = 0; i < x.size(); ++i) {
    const size_t c = size_t(i / plane % x.dim(1));
    const Moments& m = channels[c];
    const f64 gain = op.is_null(1) ? 1 : op.tensor(1).data[c], shift = op.is_null(2) ? 0 : op.tensor(2).data[c];
    const f64 v = x.data[size_t(i)], factor = factor_of(m) * gain;
    y.data[size_t(i)] = op.noisy((v - m.mean()) * factor + shift,
                                 (std::abs(v) + m.scale / f64(m.count)) * std::abs(factor) + std::abs(shift), 64);
  }
  op.give(0, std::move(y));
  op.give(1, std::move(mean));
  op.give(2, std::move(rstd));
}

f64 distance(Call& op, const f64* a, const f64* b, i64 width, f64 p) {
  f64 total = 0, scale = 0;
  for (i64 i = 0; i < width; ++i) {
    const f64 d = std::abs(a[i] - b[i]);
    scale = std::max(scale, std::abs(a[i]) + std::abs(b[i]));
    if (p == 0)
      total += d != 0;
    else if (std::isinf(p))
      total = std::isnan(d) || std::isnan(total) ? NAN : std::max(total, d);
    else
      total += std::pow(d, p);
  }
  if (p == 0) return total;
  const f64 v = std::isinf(p) ? total : std::pow(total, 1 / p);
  return op.noisy(v, v + scale, 4 * f64(width) + 16);
}

// cdist(a [.., M, W], b [.., N, W], p)
void cdist(Call& op) {
  const Array &a = op.tensor(0), &b = op.tensor(1);
  const i64 width = a.dim(-1), rows = a.dim(-2), columns = b.dim(-2);
  const Dims batch = broadcast(Dims(a.dims.begin(), a.dims.end() - 2), Dims(b.dims.begin(), b.dims.end() - 2));
  Dims dims = batch;
  dims.insert(dims.end(), {rows, columns});
  Array y = op.make(dims);
  const auto first = [&](const Array& t, const Dims& index, i64 row) {
    i64 offset = 0;
    const size_t own = t.dims.size() - 2;
    for (size_t i = 0; i < own; ++i) offset = offset * t.dims[i] + (t.dims[i] == 1 ? 0 : index[batch.size() - own + i]);
    return t.data.data() + (offset * t.dim(-2) + row) * width;
  };
  each(dims, [&](const Dims& index, i64 i) {
    y.data[size_t(i)] = distance(op, first(a, index, index[batch.size()]), first(b, index, index[batch.size() + 1]),
                                 width, op.number(2));
  });
  op.give(std::move(y));
}

// pdist(x [N, W], p): of each pair of rows, once.
void pdist(Call& op) {
  const Array& x = op.tensor(0);
  const i64 rows = x.dim(0), width = x.dim(1);
  Array y = op.make({rows * (rows - 1) / 2});
  size_t next = 0;
  for (i64 i = 0; i < rows; ++i)
    for (i64 j = i + 1; j < rows; ++j)
      y.data[next++] = distance(op, x.data.data() + i * width, x.data.data() + j * width, width, op.number_or(1, 2));
  op.give(std::move(y));
}

constexpr OpRule rules[] = {
    {"aten.var.correction", variance},      {"aten.var.dim", variance},
    {"aten.var_mean.correction", variance}, {"aten._native_batch_norm_legit.no_stats", batch_norm},
    {"aten._cdist_forward.default", cdist}, {"aten._pdist_forward.default", pdist},
};

}  // namespace

extern const OpRules statistics_rules = rules;

}  // namespace pteron::reference
