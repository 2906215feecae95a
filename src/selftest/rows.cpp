// SPDX-License-Identifier: BSD-3-Clause
// Reductions and norms: short rows, which a thread may take alone, and long ones, which a workgroup shares.
#include "selftest/trial.h"

#include <algorithm>
#include <cmath>

namespace pteron::selftest {
namespace {

std::string sized(const std::string& name, u32 width) { return name + " of " + std::to_string(width); }

std::span<const f64> row_of(const Array& x, u32 row) {
  const u32 width = x.shape[1];
  return std::span(x.v).subspan(size_t(row) * width, width);
}

f64 mean(std::span<const f64> row) {
  f64 sum = 0;
  for (f64 x : row) sum += x;
  return sum / f64(row.size());
}

void sum(Trials& trials, u32 width) {
  Trial& t = trials.emplace_back(sized("sum", width));
  const Array x = random({5, width});
  Array y({5});
  for (u32 i = 0; i < 5; ++i) y.v[i] = mean(row_of(x, i)) * width;
  t.run("aten.sum.dim_IntList", {x, {1}}, {y});
}

void columns(Trials& trials) {
  Trial& t = trials.emplace_back("sum of columns");
  const Array x = random({9, 7});
  Array y({7});
  for (u32 j = 0; j < 7; ++j)
    for (u32 i = 0; i < 9; ++i) y.v[j] += x.at({i, j});
  t.run("aten.sum.dim_IntList", {x, {0}}, {y});
}

void arg_max(Trials& trials, u32 width) {
  Trial& t = trials.emplace_back(sized("argmax", width));
  const Array x = random({3, width});
  Array y({3});
  for (u32 i = 0; i < 3; ++i) y.v[i] = f64(std::ranges::max_element(row_of(x, i)) - row_of(x, i).begin());
  t.run("aten.argmax.default", {x, 1}, {{y, DType::i32}});
}

void softmax(Trials& trials, u32 width) {
  Trial& t = trials.emplace_back(sized("softmax", width), 1e-5);
  const Array x = random({3, width}, -9, 9);
  Array y(x.shape);
  for (u32 i = 0; i < 3; ++i) {
    const f64 most = std::ranges::max(row_of(x, i));
    f64 total = 0;
    for (f64 v : row_of(x, i)) total += std::exp(v - most);
    for (u32 j = 0; j < width; ++j) y.at({i, j}) = std::exp(x.at({i, j}) - most) / total;
  }
  t.run("aten._softmax.default", {x, 1}, {y});
}

void layer_norm(Trials& trials, u32 width) {
  Trial& t = trials.emplace_back(sized("layer_norm", width));
  const Array x = random({3, width}), w = random({width}), b = random({width}, -1, 1);
  Array y(x.shape), means({3, 1}), deviations({3, 1});
  for (u32 i = 0; i < 3; ++i) {
    f64 variance = 0;
    for (f64 v : row_of(x, i)) variance += (v - mean(row_of(x, i))) * (v - mean(row_of(x, i))) / width;
    means.v[i] = mean(row_of(x, i));
    deviations.v[i] = 1 / std::sqrt(variance + 1e-5);
    for (u32 j = 0; j < width; ++j) y.at({i, j}) = (x.at({i, j}) - means.v[i]) * deviations.v[i] * w.v[j] + b.v[j];
  }
  t.run("aten.native_layer_norm.default", {x, {width}, kept(w), kept(b), 1e-5}, {y, means, deviations});
}

void rms_norm(Trials& trials, u32 width, std::string_view route) {
  Trial& t = trials.emplace_back(str("rms_norm ", width, ", ", route));
  t.options.routes = {str("rms_norm=", route)};
  const Array x = random({2, width}), w = random({width});
  Array y(x.shape);
  for (u32 i = 0; i < 2; ++i) {
    f64 square = 0;
    for (f64 v : row_of(x, i)) square += v * v / width;
    for (u32 j = 0; j < width; ++j) y.at({i, j}) = x.at({i, j}) / std::sqrt(square + 1e-6) * w.v[j];
  }
  t.run("et_vk.rms_norm.default", {x, kept(w), 1e-6}, {y});
}

// What a generator asks of the last row, or of every row.
void best(Trials& trials, std::string_view route) {
  constexpr u32 width = 2300;
  Trial& t = trials.emplace_back(str("epilogues, arg_max ", route), 0);
  t.options.routes = {str("arg_max=", route)};
  const Array x = random({3, width}), y = map(x, [](f64 v) { return -v; });
  t.run("aten.neg.default", {x}, {y});
  const auto last = row_of(y, 2);
  std::vector<f64> order(width);
  for (u32 i = 0; i < width; ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](f64 a, f64 b) { return last[u32(a)] > last[u32(b)]; });
  Array sums({3});
  for (u32 i = 0; i < 3; ++i) {
    f64 sum = 0;
    for (f64 v : row_of(y, i)) sum += std::exp(v);
    sums.v[i] = std::log(sum);
  }
  t.tolerance = 1e-4;
  t.method_options.epilogues = {{.kind = Epilogue::arg_max},
                                {.kind = Epilogue::top_k, .k = 3},
                                {.kind = Epilogue::log_sum_exp, .rows = Epilogue::all}};
  t.expected.push_back(Array({1}, {order[0]}));
  t.expected.push_back(Array({3}, {last[u32(order[0])], last[u32(order[1])], last[u32(order[2])]}));
  t.expected.push_back(Array({3}, {order[0], order[1], order[2]}));
  t.expected.push_back(sums);
}

}  // namespace

void add_rows(Trials& trials) {
  for (u32 width : {7u, 1031u}) {
    sum(trials, width);
    arg_max(trials, width);
    softmax(trials, width);
    layer_norm(trials, width);
    rms_norm(trials, width, "rows");
  }
  for (std::string_view route : routes_of("rms_norm", false)) rms_norm(trials, 1032, route);
  columns(trials);
  for (std::string_view route : routes_of("arg_max", false)) best(trials, route);
}

}  // namespace pteron::selftest
