// SPDX-License-Identifier: BSD-3-Clause
// Tensors of which a part is replaced, or joined with something.
#include "differential/reference/places.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace pteron::reference {
namespace {

// What is put together in one place, in order.
struct Heap {
  f64 value = 0, scale = 0;
  i64 count = 0;
};

void join(Heap& heap, const std::string& how, f64 v) {
  const bool first = heap.count++ == 0;
  heap.scale = how == "prod" ? (first ? 1 : heap.scale) * std::abs(v) : heap.scale + std::abs(v);
  if (first || how == "overwrite")
    heap.value = v;
  else if (how == "prod")
    heap.value *= v;
  else if (how == "amax")
    heap.value = std::isnan(heap.value) || std::isnan(v) ? NAN : std::max(heap.value, v);
  else if (how == "amin")
    heap.value = std::isnan(heap.value) || std::isnan(v) ? NAN : std::min(heap.value, v);
  else
    heap.value += v;
}

f64 result(Call& op, const Heap& heap, const std::string& how) {
  if (how == "overwrite" || how == "amax" || how == "amin") return heap.value;
  const bool floating = is_float(op.dtype());
  const f64 divisor = how == "mean" ? f64(heap.count) : 1;
  if (!floating) return std::floor(heap.value / divisor);
  return op.noisy(heap.value / divisor, heap.scale / divisor, f64(heap.count) + 2);
}

// x with `values` put where `places` say. What is there already counts only if it is said.
Array put(Call& op, const Array& x, const std::vector<size_t>& places, const std::vector<f64>& values,
          const std::string& how, bool with_old) {
  std::vector<Heap> heaps(x.data.size());
  for (size_t i = 0; i < places.size(); ++i) {
    Heap& heap = heaps[places[i]];
    if (with_old && heap.count == 0) join(heap, how, x.data[places[i]]);
    join(heap, how, values[i]);
  }
  Array y = op.make(x.dims);
  for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = heaps[i].count > 0 ? result(op, heaps[i], how) : x.data[i];
  return y;
}

// op(x, axis, indices, source or number, …)
void scatter_along(Call& op, const std::string& how, bool with_old) {
  const Array &x = op.tensor(0), &indices = op.tensor(2);
  const bool number = op.name() == "aten.scatter.value";
  const size_t axis = size_t(op.axis(1, x.rank()));
  const Dims strides = strides_of(x.dims);
  std::vector<size_t> places;
  std::vector<f64> values;
  each(indices.dims, [&](const Dims& index, i64 i) {
    i64 offset = 0, from = 0;
    for (size_t a = 0; a < index.size(); ++a)
      offset += strides[a] * (a == axis ? checked(indices.data[size_t(i)], x.dims[a]) : index[a]);
    if (!number) {
      const Array& source = op.tensor(3);
      const Dims steps = strides_of(source.dims);
      for (size_t a = 0; a < index.size(); ++a) from += steps[a] * index[a];
      values.push_back(source.data.at(size_t(from)));
    } else {
      values.push_back(op.number(3));
    }
    places.push_back(size_t(x.rank() == 0 ? checked(indices.data[0], 1) : offset));
  });
  op.give(put(op, x, places, values, how, with_old));
}

void scatter(Call& op) { scatter_along(op, "overwrite", false); }
void scatter_add(Call& op) { scatter_along(op, "sum", true); }
void scatter_reduce(Call& op) { scatter_along(op, op.text_or(4, ""), op.flag_or(5, true)); }

// index_put(x, indices, values, accumulate)
void index_put(Call& op) {
  const Array &x = op.tensor(0), &values = op.tensor(2);
  const Places places = places_of(op);
  std::vector<f64> spread;
  each(places.dims, [&](const Dims& index, i64) { spread.push_back(at(values, index)); });
  const bool adds = op.flag_or(3, false);
  op.give(put(op, x, places.all, spread, adds ? "sum" : "overwrite", adds));
}

// x with every `step`th position of an axis from `start` on replaced, `count` of them.
void insert(Call& op, i64 axis, i64 start, i64 step, i64 count, bool has_axis) {
  const Array &x = op.tensor(0), &source = op.tensor(1);
  Dims part = x.dims;
  part[size_t(axis)] = count;
  Array y = op.make(x.dims);
  y.data = x.data;
  const Dims strides = strides_of(x.dims);
  if (reference::count(part) != source.size()) throw std::runtime_error(op.name() + ": the source does not fit");
  if (has_axis && source.dims != part) throw std::runtime_error(op.name() + ": the source does not fit");
  each(part, [&](const Dims& index, i64 i) {
    i64 offset = 0;
    for (size_t a = 0; a < index.size(); ++a)
      offset += strides[a] * (i64(a) == axis ? start + step * index[a] : index[a]);
    y.data[size_t(offset)] = source.data[size_t(i)];
  });
  op.give(std::move(y));
}

void slice_scatter(Call& op) {
  const Array& x = op.tensor(0);
  const i64 axis = op.is_null(2) ? 0 : op.axis(2, x.rank()), size = x.dim(axis);
  const auto bound = [&](i64 at) { return std::clamp<i64>(at < 0 ? at + size : at, 0, size); };
  const i64 start = bound(op.integer_or(3, 0)), end = std::max(start, bound(op.integer_or(4, size)));
  const i64 step = op.integer_or(5, 1);
  insert(op, axis, start, step, (end - start + step - 1) / step, true);
}

void select_scatter(Call& op) {
  const Array& x = op.tensor(0);
  const i64 axis = op.axis(2, x.rank());
  insert(op, axis, checked(op.number(3), x.dim(axis), true), 1, 1, false);
}

void masked_scatter(Call& op) {
  const Array &x = op.tensor(0), &mask = op.tensor(1), &source = op.tensor(2);
  Array y = op.make(x.dims);
  size_t next = 0;
  each(x.dims, [&](const Dims& index, i64 i) {
    y.data[size_t(i)] = at(mask, index) != 0 ? source.data.at(next++) : x.data[size_t(i)];
  });
  op.give(std::move(y));
}

// bucketize(x, boundaries, out_int32, right)
void bucketize(Call& op) {
  const Array &x = op.tensor(0), &boundaries = op.tensor(1);
  const auto falls = [](f64 a, f64 b) { return !(a <= b); };
  if (std::ranges::adjacent_find(boundaries.data, falls) != boundaries.data.end())
    throw std::runtime_error("boundaries that are not sorted mean nothing");
  const bool right = op.flag_or(3, false);
  Array y = op.make(x.dims);
  const auto end = boundaries.data.end();
  for (size_t i = 0; i < y.data.size(); ++i) {
    const f64 v = x.data[i];
    const auto passed = [&](f64 b) { return std::isnan(v) || (right ? b <= v : b < v); };
    y.data[i] = f64(std::find_if_not(boundaries.data.begin(), end, passed) - boundaries.data.begin());
  }
  op.give(std::move(y));
}

constexpr OpRule rules[] = {
    {"aten.scatter.src", scatter},
    {"aten.scatter.value", scatter},
    {"aten.scatter_add.default", scatter_add},
    {"aten.scatter_reduce.two", scatter_reduce},
    {"aten.index_put.default", index_put},
    {"aten.slice_scatter.default", slice_scatter},
    {"aten.select_scatter.default", select_scatter},
    {"aten.masked_scatter.default", masked_scatter},
    {"aten.bucketize.Tensor", bucketize},
};

}  // namespace

extern const OpRules scattering_rules = rules;

}  // namespace pteron::reference
