// SPDX-License-Identifier: BSD-3-Clause
// Normalisation of rows, groups and channels.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace pteron::reference {
namespace {

struct Statistics {
  f64 mean, rstd;
};

// Of `length` elements from `first` on. Where sums overflow nothing is known: it depends on their order.
Statistics measure(Call& op, const Array& x, i64 first, i64 length, f64 eps, bool centered) {
  f64 sum = 0, reach = 0, squares = 0;
  for (i64 i = first; i < first + length; ++i) sum += x.data[size_t(i)], reach += std::abs(x.data[size_t(i)]);
  const f64 mean = centered ? sum / f64(length) : 0;
  for (i64 i = first; i < first + length; ++i) squares += std::pow(x.data[size_t(i)] - mean, 2);
  const f64 rstd = 1 / std::sqrt(squares / f64(length) + eps);
  if (!(std::max(reach, squares) > f64(FLT_MAX))) return {mean, rstd};
  return {op.anything(mean, NAN), op.anything(rstd, NAN)};
}

// Rows of `length` elements one after another; `channel(i)` says which gain and shift element i has.
struct Norm {
  i64 length = 1;
  f64 eps = 0;
  bool centered = true;
  const Array *gain = nullptr, *shift = nullptr;
};
template <class Fn>
Array normalise(Call& op, DType dtype, const Array& x, const Norm& n, std::vector<Statistics>& rows, Fn channel) {
  Array y(dtype, x.dims);
  for (i64 first = 0; n.length > 0 && first < x.size(); first += n.length) {
    const Statistics s = rows.emplace_back(measure(op, x, first, n.length, n.eps, n.centered));
    for (i64 i = first; i < first + n.length; ++i) {
      const size_t c = size_t(channel(i));
      const f64 gain = n.gain ? n.gain->data[c] : 1, shift = n.shift ? n.shift->data[c] : 0;
      const f64 v = (x.data[size_t(i)] - s.mean) * s.rstd * gain;
      const f64 terms = (std::abs(x.data[size_t(i)]) + std::abs(s.mean)) * s.rstd * std::abs(gain) + std::abs(shift);
      y.data[size_t(i)] = op.noisy(n.shift ? v + shift : v, terms, f64(n.length) + 16);
    }
  }
  return y;
}

void give_statistics(Call& op, Dims dims, const std::vector<Statistics>& rows) {
  Array mean(op.dtype(1), dims), rstd(op.dtype(2), std::move(dims));
  for (size_t i = 0; i < rows.size() && i < mean.data.size(); ++i) {
    mean.data[i] = op.noisy(rows[i].mean, 1 + std::abs(rows[i].mean), 64);
    rstd.data[i] = op.noisy(rows[i].rstd, rows[i].rstd, 64);
  }
  op.give(1, std::move(mean));
  op.give(2, std::move(rstd));
}

void rms_norm(Call& op) {
  const Array& x = op.tensor(0);
  std::vector<Statistics> rows;
  const Norm n{x.dim(-1), op.number_or(2, FLT_EPSILON), false, &op.tensor(1)};
  op.give(normalise(op, op.dtype(), x, n, rows, [&](i64 i) { return i % n.length; }));
}

void layer_norm(Call& op) {
  const Array& x = op.tensor(0);
  const Dims shape = op.ints(1);
  Norm n{count(shape), op.number(4), true};
  if (!op.is_null(2)) n.gain = &op.tensor(2);
  if (!op.is_null(3)) n.shift = &op.tensor(3);
  Dims stats = x.dims;
  for (size_t i = 0; i < shape.size(); ++i) stats[stats.size() - 1 - i] = 1;
  std::vector<Statistics> rows;
  Array y = normalise(op, op.dtype(0), x, n, rows, [&](i64 i) { return i % n.length; });
  op.give(0, std::move(y));
  give_statistics(op, stats, rows);
}

void group_norm(Call& op) {
  const Array& x = op.tensor(0);
  const i64 groups = op.integer(6), channels = x.dim(1), batch = x.dim(0);
  const i64 plane = x.size() / std::max<i64>(batch * channels, 1);
  Norm n{channels / groups * plane, op.number(7), true};
  if (!op.is_null(1)) n.gain = &op.tensor(1);
  if (!op.is_null(2)) n.shift = &op.tensor(2);
  std::vector<Statistics> rows;
  Array y = normalise(op, op.dtype(0), x, n, rows, [&](i64 i) { return i / plane % channels; });
  op.give(0, std::move(y));
  give_statistics(op, {batch, groups}, rows);
}

// (x − mean) / √(var + eps) · gain + shift, all of them by channel.
void batch_norm(Call& op) {
  const Array &x = op.tensor(0), &mean = op.tensor(3), &variance = op.tensor(4);
  const i64 plane = x.size() / std::max<i64>(x.dim(0) * x.dim(1), 1);
  Array y(op.dtype(0), x.dims);
  for (i64 i = 0; i < x.size(); ++i) {
    const size_t c = size_t(i / plane % x.dim(1)), e = size_t(i);
    const f64 gain = op.is_null(1) ? 1 : op.tensor(1).data[c], shift = op.is_null(2) ? 0 : op.tensor(2).data[c];
    const f64 factor = gain / std::sqrt(variance.data[c] + op.number(6));
    const f64 terms = (std::abs(x.data[e]) + std::abs(mean.data[c])) * std::abs(factor) + std::abs(shift);
    y.data[e] = op.noisy((x.data[e] - mean.data[c]) * factor + shift, terms, 16);
  }
  op.give(0, std::move(y));
}

constexpr OpRule rules[] = {
    {"et_vk.rms_norm.default", rms_norm},
    {"aten.native_layer_norm.default", layer_norm},
    {"aten.native_group_norm.default", group_norm},
    {"aten._native_batch_norm_legit_no_training.default", batch_norm},
};

}  // namespace

extern const OpRules norm_rules = rules;

}  // namespace pteron::reference
