// SPDX-License-Identifier: BSD-3-Clause
// Orders, running sums, and elements that go where indices say.
#include "base/text.h"
#include "selftest/trial.h"

#include <algorithm>
#include <numeric>

namespace pteron::selftest {
namespace {

void variance(Trials& trials) {
  Trial& t = trials.emplace_back("variance");
  const Array x = random({3, 37});
  Array y({3});
  for (u32 i = 0; i < 3; ++i) {
    f64 mean = 0;
    for (u32 j = 0; j < 37; ++j) mean += x.at({i, j}) / 37;
    for (u32 j = 0; j < 37; ++j) y.v[i] += (x.at({i, j}) - mean) * (x.at({i, j}) - mean) / 36;
  }
  const u32 in = t.give(x), axes = t.ints({1}), correction = t.integer(1), keep = t.boolean(false);
  t.op("aten.var.correction", {in, axes, correction, keep, t.expect(y)});
}

void running_sums(Trials& trials, u32 length) {
  Trial& t = trials.emplace_back(str("cumsum of ", length));
  const Array x = random({2, length});
  Array y(x.shape);
  for (u32 i = 0; i < 2; ++i)
    for (u32 j = 0; j < length; ++j) y.at({i, j}) = x.at({i, j}) + (j == 0 ? 0 : y.at({i, j - 1}));
  const u32 in = t.give(x), axis = t.integer(1);
  t.op("aten.cumsum.default", {in, axis, t.null(), t.expect(y)});
}

void order(Trials& trials) {
  Trial& t = trials.emplace_back("sort", 0);
  const u32 length = 205;
  const Array x = integers({3, length}, -50, 50);
  Array y(x.shape), places(x.shape);
  for (u32 i = 0; i < 3; ++i) {
    std::vector<u32> sorted(length);
    std::iota(sorted.begin(), sorted.end(), 0);
    std::ranges::stable_sort(sorted, [&](u32 a, u32 b) { return x.at({i, a}) > x.at({i, b}); });
    for (u32 j = 0; j < length; ++j) y.at({i, j}) = x.at({i, sorted[j]}), places.at({i, j}) = sorted[j];
  }
  const u32 in = t.give(x), axis = t.integer(1), descending = t.boolean(true);
  t.op("aten.sort.default", {in, axis, descending, t.list({t.expect(y), t.expect(places, DType::i32)})});
}

void several_indices(Trials& trials) {
  Trial& t = trials.emplace_back("index by two", 0);
  const Array x = random({5, 7}), i = integers({9}, -5, 4), j = integers({9}, 0, 6);
  Array y({9});
  for (u32 k = 0; k < 9; ++k) y.v[k] = x.at({u32(i.v[k] < 0 ? i.v[k] + 5 : i.v[k]), u32(j.v[k])});
  const u32 in = t.give(x), indices = t.list({t.give(i, DType::i32), t.give(j, DType::i32)});
  t.op("aten.index.Tensor", {in, indices, t.expect(y)});
}

void scatter_add(Trials& trials) {
  Trial& t = trials.emplace_back("scatter_add");
  const Array x = random({5}), index = integers({999}, 0, 4), source = random({999});
  Array y = x;
  for (u32 i = 0; i < 999; ++i) y.v[u32(index.v[i])] += source.v[i];
  const u32 in = t.give(x), axis = t.integer(0), at = t.give(index, DType::i32), values = t.give(source);
  t.op("aten.scatter_add.default", {in, axis, at, values, t.expect(y)});
}

// The last element that goes to a place stays.
void scatter(Trials& trials) {
  Trial& t = trials.emplace_back("scatter", 0);
  const Array x = integers({7}, -9, 9), index = integers({20}, 0, 6), source = integers({20}, -9, 9);
  Array y = x;
  for (u32 i = 0; i < 20; ++i) y.v[u32(index.v[i])] = source.v[i];
  const u32 in = t.give(x, DType::i8), axis = t.integer(0), at = t.give(index, DType::i32);
  t.op("aten.scatter.src", {in, axis, at, t.give(source, DType::i8), t.expect(y, DType::i8)});
}

void insert(Trials& trials) {
  Trial& t = trials.emplace_back("slice_scatter", 0);
  const Array x = random({3, 7}), source = random({3, 2});
  Array y = x;
  for (u32 i = 0; i < 3; ++i)
    for (u32 j = 0; j < 2; ++j) y.at({i, 1 + 3 * j}) = source.at({i, j});
  const u32 in = t.give(x), part = t.give(source), axis = t.integer(1), start = t.integer(1), end = t.integer(7);
  t.op("aten.slice_scatter.default", {in, part, axis, start, end, t.integer(3), t.expect(y)});
}

void masked_scatter(Trials& trials) {
  Trial& t = trials.emplace_back("masked_scatter", 0);
  const Array x = random({37}), mask = integers({37}, 0, 1), source = random({37});
  Array y = x;
  for (u32 i = 0, next = 0; i < 37; ++i)
    if (mask.v[i] != 0) y.v[i] = source.v[next++];
  const u32 in = t.give(x), marks = t.give(mask, DType::boolean);
  t.op("aten.masked_scatter.default", {in, marks, t.give(source), t.expect(y)});
}

void bucketize(Trials& trials) {
  Trial& t = trials.emplace_back("bucketize", 0);
  const Array x = random({37}), bounds({4}, {-1, 0, 0.5, 1.5});
  const Array y = map(x, [&](f64 v) { return f64(std::ranges::count_if(bounds.v, [&](f64 b) { return b < v; })); });
  const u32 in = t.give(x), boundaries = t.keep(bounds);
  t.op("aten.bucketize.Tensor", {in, boundaries, t.boolean(false), t.boolean(false), t.expect(y, DType::i32)});
}

}  // namespace

void add_indexing(Trials& trials) {
  variance(trials);
  running_sums(trials, 7);
  running_sums(trials, 1031);
  order(trials);
  several_indices(trials);
  scatter_add(trials);
  scatter(trials);
  insert(trials);
  masked_scatter(trials);
  bucketize(trials);
}

}  // namespace pteron::selftest
