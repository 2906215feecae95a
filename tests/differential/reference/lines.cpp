// SPDX-License-Identifier: BSD-3-Clause
// What core ATen does along lines of a tensor: orders, running sums, spread, whether anything is there.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <numeric>

namespace pteron::reference {
namespace {

// Calls fn with the elements of each line along an axis, as places in the data.
template <class Fn>
void each_line(const Array& x, size_t axis, Fn fn) {
  const Dims strides = strides_of(x.dims);
  const i64 length = x.rank() == 0 ? 1 : x.dims[axis], step = x.rank() == 0 ? 1 : strides[axis];
  each(x.dims, [&](const Dims& index, i64 i) {
    if (!index.empty() && index[axis] != 0) return;
    std::vector<size_t> line;
    line.reserve(size_t(length));
    for (i64 k = 0; k < length; ++k) line.push_back(size_t(i + k * step));
    fn(line);
  });
}

void running(Call& op) {
  const Array& x = op.tensor(0);
  const bool product = op.name() == "aten.cumprod.default";
  Array y = op.make(x.dims);
  each_line(x, size_t(op.axis(1, std::max<i64>(x.rank(), 1))), [&](const std::vector<size_t>& line) {
    f64 total = product ? 1 : 0, scale = 0;
    for (size_t i : line) {
      total = product ? total * x.data[i] : total + x.data[i];
      scale += std::abs(x.data[i]);
      y.data[i] =
          is_float(op.dtype()) ? op.noisy(total, product ? std::abs(total) : scale, f64(line.size()) + 2) : total;
    }
  });
  op.give(std::move(y));
}

// values and places of the first `kept` elements of every line in order
void give_order(Call& op, size_t axis, i64 kept, bool descending) {
  const Array& x = op.tensor(0);
  Dims dims = x.dims;
  if (!dims.empty()) dims[axis] = kept;
  Array values(op.dtype(0), dims), places(op.dtype(1), dims);
  std::vector<std::vector<size_t>> targets;
  each_line(values, axis, [&](const std::vector<size_t>& line) { targets.push_back(line); });
  size_t number = 0;
  each_line(x, axis, [&](const std::vector<size_t>& line) {
    std::vector<size_t> order(line.size());
    std::iota(order.begin(), order.end(), 0);
    const auto before = [](f64 a, f64 b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
    std::ranges::stable_sort(order, [&](size_t a, size_t b) {
      const f64 u = x.data[line[a]], v = x.data[line[b]];
      return descending ? before(v, u) : before(u, v);
    });
    if (number == targets.size()) return;
    const std::vector<size_t>& target = targets[number++];
    for (size_t k = 0; k < target.size(); ++k)
      values.data[target[k]] = x.data[line[order[k]]], places.data[target[k]] = f64(order[k]);
  });
  op.give(0, std::move(values));
  op.give(1, std::move(places));
}

size_t axis_of(Call& op, u32 arg) {
  const i64 rank = std::max<i64>(op.tensor(0).rank(), 1), axis = op.integer_or(arg, -1);
  return size_t(axis < 0 ? axis + rank : axis);
}
void sort(Call& op) {
  const u32 shift = op.name() == "aten.sort.stable" ? 1 : 0;
  const size_t axis = axis_of(op, 1 + shift);
  give_order(op, axis, op.tensor(0).dim(i64(axis)), op.flag_or(2 + shift, false));
}
void top_k(Call& op) { give_order(op, axis_of(op, 2), op.integer(1), op.flag_or(3, true)); }

void extreme_pair(Call& op) {
  const Array& x = op.tensor(0);
  const size_t axis = axis_of(op, 1);
  const bool keep = op.flag_or(2, false), largest = op.name() == "aten.max.dim";
  Dims dims = x.dims;
  if (!dims.empty() && keep) dims[axis] = 1;
  if (!dims.empty() && !keep) dims.erase(dims.begin() + i64(axis));
  Array values(op.dtype(0), dims), places(op.dtype(1), dims);
  size_t number = 0;
  each_line(x, axis, [&](const std::vector<size_t>& line) {
    size_t best = 0;
    for (size_t k = 1; k < line.size(); ++k) {
      const f64 v = x.data[line[k]], than = x.data[line[best]];
      if (!std::isnan(than) && (std::isnan(v) || (largest ? v > than : v < than))) best = k;
    }
    values.data[number] = x.data[line[best]], places.data[number++] = f64(best);
  });
  op.give(0, std::move(values));
  op.give(1, std::move(places));
}

constexpr OpRule rules[] = {
    {"aten.cumsum.default", running}, {"aten.cumprod.default", running}, {"aten.sort.default", sort},
    {"aten.sort.stable", sort},       {"aten.topk.default", top_k},      {"aten.max.dim", extreme_pair},
    {"aten.min.dim", extreme_pair},
};

}  // namespace

extern const OpRules line_rules = rules;

}  // namespace pteron::reference
