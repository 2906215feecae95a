// SPDX-License-Identifier: BSD-3-Clause
// Sums, extremes and softmax along axes.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <stdexcept>

namespace pteron::reference {
namespace {

// The elements of x that end up in each element of the result, in order.
struct Rows {
  Dims kept;  // x's sizes, 1 along the axes that go
  std::vector<std::vector<size_t>> elements;
};

Rows rows_of(const Array& x, const std::vector<bool>& gone) {
  Rows out{x.dims, {}};
  for (size_t i = 0; i < gone.size(); ++i)
    if (gone[i]) out.kept[i] = 1;
  out.elements.resize(size_t(count(out.kept)));
  each(x.dims, [&](const Dims& index, i64 i) {
    i64 row = 0;
    for (size_t a = 0; a < index.size(); ++a) row = row * out.kept[a] + (gone[a] ? 0 : index[a]);
    out.elements[size_t(row)].push_back(size_t(i));
  });
  return out;
}

Dims result_dims(const Rows& rows, const std::vector<bool>& gone, bool keep) {
  Dims out;
  for (size_t i = 0; i < gone.size(); ++i)
    if (keep || !gone[i]) out.push_back(rows.kept[i]);
  return out;
}

std::vector<bool> axes_of(const Array& x, const Dims& axes) {
  std::vector<bool> gone(x.dims.size(), axes.empty());
  for (i64 axis : axes)
    if (x.rank() > 0) gone[size_t(axis < 0 ? axis + x.rank() : axis)] = true;
  return gone;
}

template <class Fn>
void reduce(Call& op, const std::vector<bool>& gone, Fn fn, bool keeps = true) {
  const Array& x = op.tensor(0);
  const Rows rows = rows_of(x, gone);
  Array y = op.make(result_dims(rows, gone, keeps && op.flag_or(2, false)));
  for (size_t row = 0; row < rows.elements.size(); ++row) y.data[row] = fn(x, rows.elements[row]);
  op.give(std::move(y));
}

void sum(Call& op) {
  const bool mean = op.name() == "aten.mean.dim", floating = is_float(op.dtype());
  reduce(op, axes_of(op.tensor(0), op.ints(1)), [&](const Array& x, const std::vector<size_t>& row) {
    f64 total = 0, scale = 0;
    for (size_t i : row) total += x.data[i], scale += std::abs(x.data[i]);
    const f64 divisor = mean ? f64(row.size()) : 1;
    return floating ? op.noisy(total / divisor, scale / divisor, f64(row.size()) + 2) : total;
  });
}

// The first of the largest (or smallest) elements; NaN is more than anything.
size_t extreme(const Array& x, const std::vector<size_t>& row, bool largest) {
  if (row.empty()) throw std::runtime_error("nothing has no extreme");
  size_t best = 0;
  for (size_t i = 1; i < row.size(); ++i) {
    const f64 v = x.data[row[i]], than = x.data[row[best]];
    if (std::isnan(than)) break;
    if (std::isnan(v) || (largest ? v > than : v < than)) best = i;
  }
  return best;
}

void extreme_value(Call& op) {
  const bool largest = op.name() == "aten.amax.default";
  reduce(op, axes_of(op.tensor(0), op.ints(1)),
         [&](const Array& x, const std::vector<size_t>& row) { return x.data[row[extreme(x, row, largest)]]; });
}

void extreme_index(Call& op) {
  const bool largest = op.name() == "aten.argmax.default";
  const Array& in = op.tensor(0);
  reduce(op, axes_of(in, op.is_null(1) ? Dims() : Dims{op.integer(1)}),
         [&](const Array& x, const std::vector<size_t>& row) { return f64(extreme(x, row, largest)); });
}

// Ops over everything, over one axis and over several, by the part of their name behind the point.
template <class Fn>
void reduce_by_name(Call& op, Fn fn) {
  const Array& x = op.tensor(0);
  const bool all = op.name().ends_with(".default"), several = op.name().ends_with(".dims");
  reduce(op, axes_of(x, all ? Dims() : several ? op.ints(1) : Dims{op.integer(1)}), fn, !all);
}
void any(Call& op) {
  reduce_by_name(op, [](const Array& x, const std::vector<size_t>& row) {
    return f64(std::ranges::any_of(row, [&](size_t i) { return x.data[i] != 0; }));
  });
}
void product(Call& op) {
  reduce_by_name(op, [&](const Array& x, const std::vector<size_t>& row) {
    // In whichever order: what is small may underflow before what is large makes up for it.
    f64 total = 1, least = 1;
    for (size_t i : row) total *= x.data[i], least *= std::min(std::abs(x.data[i]), 1.0);
    if (is_float(op.dtype()) && least != 0 && least < 0x1p-126) return op.anything(total, 0);
    return is_float(op.dtype()) ? op.noisy(total, std::abs(total), f64(row.size()) + 2) : total;
  });
}
void mean_of_all(Call& op) {
  reduce_by_name(op, [&](const Array& x, const std::vector<size_t>& row) {
    f64 total = 0, scale = 0;
    for (size_t i : row) total += x.data[i], scale += std::abs(x.data[i]);
    return op.noisy(total / f64(row.size()), scale / f64(row.size()), f64(row.size()) + 2);
  });
}
void extreme_of_all(Call& op) {
  reduce_by_name(op, [&](const Array& x, const std::vector<size_t>& row) {
    return x.data[row[extreme(x, row, op.name() == "aten.max.default")]];
  });
}

void softmax(Call& op) {
  const bool logarithm = op.name() == "aten._log_softmax.default";
  const Array& x = op.tensor(0);
  const Rows rows = rows_of(x, axes_of(x, {op.integer(1)}));
  Array y = op.make(x.dims);
  for (const auto& row : rows.elements) {
    if (row.empty()) continue;
    const f64 most = x.data[row[extreme(x, row, true)]];
    f64 total = 0;
    for (size_t i : row) total += std::exp(x.data[i] - most);
    for (size_t i : row) {
      const f64 below = x.data[i] - most, part = std::exp(below) / total;
      y.data[i] = logarithm
                      ? op.noisy(below - std::log(total), std::abs(below) + std::log(total) + 1, f64(row.size()) + 16)
                      : op.noisy(part, part, f64(row.size()) + 16 + 4 * std::abs(below));
    }
  }
  op.give(std::move(y));
}

constexpr OpRule rules[] = {
    {"aten.sum.dim_IntList", sum},
    {"aten.mean.dim", sum},
    {"aten.amax.default", extreme_value},
    {"aten.amin.default", extreme_value},
    {"aten.argmax.default", extreme_index},
    {"aten.argmin.default", extreme_index},
    {"aten._softmax.default", softmax},
    {"aten._log_softmax.default", softmax},
    {"aten.any.default", any},
    {"aten.any.dim", any},
    {"aten.any.dims", any},
    {"aten.prod.default", product},
    {"aten.prod.dim_int", product},
    {"aten.mean.default", mean_of_all},
    {"aten.max.default", extreme_of_all},
    {"aten.min.default", extreme_of_all},
};

}  // namespace

extern const OpRules reduction_rules = rules;

}  // namespace pteron::reference
