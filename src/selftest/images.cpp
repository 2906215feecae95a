// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.h"
#include "selftest/trial.h"

#include <algorithm>
#include <cmath>

namespace pteron::selftest {
namespace {

struct Filter {
  u32 stride = 1, padding = 0, groups = 1;
  u32 out(u32 in, u32 taps) const { return (in + 2 * padding - taps) / stride + 1; }
};

Array convolve(const Array& x, const Array& w, const Array& b, const Filter& f) {
  const u32 channels = x.shape[1], group_in = w.shape[1], group_out = w.shape[0] / f.groups;
  Array y({x.shape[0], w.shape[0], f.out(x.shape[2], w.shape[2]), f.out(x.shape[3], w.shape[3])});
  for (u32 o = 0; o < y.shape[1]; ++o)
    for (u32 i = 0; i < y.shape[2]; ++i)
      for (u32 j = 0; j < y.shape[3]; ++j) {
        f64& sum = y.at({0, o, i, j}) = b.v[o];
        for (u32 c = 0; c < group_in; ++c)
          for (u32 p = 0; p < w.shape[2]; ++p)
            for (u32 q = 0; q < w.shape[3]; ++q) {
              const i64 row = i64(i * f.stride + p) - f.padding, column = i64(j * f.stride + q) - f.padding;
              if (row < 0 || column < 0 || row >= x.shape[2] || column >= x.shape[3]) continue;
              sum += w.at({o, c, p, q}) * x.at({0, (o / group_out * group_in + c) % channels, u32(row), u32(column)});
            }
      }
  return y;
}

void convolution(Trials& trials, const std::string& name, const Shape& image, const Shape& filter, const Filter& f,
                 std::vector<std::string> routes = {}) {
  Trial& t = trials.emplace_back(name);
  t.options.routes = std::move(routes);
  const Array x = random(image), w = random(filter, -1, 1), b = random({filter[0]});
  const u32 in = t.give(x), weight = t.keep(w), bias = t.keep(b);
  const u32 stride = t.ints({f.stride, f.stride}), padding = t.ints({f.padding, f.padding}), ones = t.ints({1, 1});
  t.op("aten.convolution.default", {in, weight, bias, stride, padding, ones, t.boolean(false), t.ints({0, 0}),
                                    t.integer(f.groups), t.expect(convolve(x, w, b, f))});
}

void pools(Trials& trials) {
  const Array x = random({1, 3, 6, 8});
  Array most({1, 3, 3, 4}), where({1, 3, 3, 4}), mean({1, 3, 3, 4});
  for (u32 c = 0; c < 3; ++c)
    for (u32 i = 0; i < 3; ++i)
      for (u32 j = 0; j < 4; ++j) {
        most.at({0, c, i, j}) = -1e9;
        for (u32 p = 0; p < 4; ++p) {
          const u32 row = 2 * i + p / 2, column = 2 * j + p % 2;
          const f64 v = x.at({0, c, row, column});
          mean.at({0, c, i, j}) += v / 4;
          if (v <= most.at({0, c, i, j})) continue;
          most.at({0, c, i, j}) = v;
          where.at({0, c, i, j}) = row * 8 + column;
        }
      }
  Trial& max = trials.emplace_back("max_pool2d", 0);
  const u32 image = max.give(x), two = max.ints({2, 2}), none = max.ints({0, 0}), one = max.ints({1, 1});
  max.op("aten.max_pool2d_with_indices.default",
         {image, two, two, none, one, max.boolean(false), max.list({max.expect(most), max.expect(where, DType::i32)})});
  Trial& average = trials.emplace_back("avg_pool2d");
  const u32 in = average.give(x), size = average.ints({2, 2}), zero = average.ints({0, 0});
  average.op("aten.avg_pool2d.default", {in, size, size, zero, average.boolean(false), average.boolean(true),
                                         average.null(), average.expect(mean)});
}

// One filter of all ones over volumes: every result is the sum of eight neighbours.
void volume(Trials& trials) {
  Trial& t = trials.emplace_back("convolution of volumes");
  const Array x = random({1, 1, 3, 4, 5}), w = map(Array({1, 1, 2, 2, 2}), [](f64) { return 1.0; });
  Array y({1, 1, 2, 3, 4});
  for (u32 d = 0; d < 2; ++d)
    for (u32 i = 0; i < 3; ++i)
      for (u32 j = 0; j < 4; ++j)
        for (u32 p = 0; p < 8; ++p) y.at({0, 0, d, i, j}) += x.at({0, 0, d + p / 4, i + p / 2 % 2, j + p % 2});
  const u32 in = t.give(x), weight = t.keep(w), ones = t.ints({1, 1, 1}), zeros = t.ints({0, 0, 0});
  t.op("aten.convolution.default",
       {in, weight, t.null(), ones, zeros, ones, t.boolean(false), zeros, t.integer(1), t.expect(y)});
}

// Blocks of two by two that lie at every place of an image.
void fold(Trials& trials) {
  Trial& t = trials.emplace_back("col2im");
  const Array x = random({2, 4, 6});  // [batch, block, 2 x 3 places]
  Array y({2, 1, 3, 4});
  for (u32 n = 0; n < 2; ++n)
    for (u32 p = 0; p < 4; ++p)
      for (u32 l = 0; l < 6; ++l) y.at({n, 0, l / 3 + p / 2, l % 3 + p % 2}) += x.at({n, p, l});
  const u32 in = t.give(x), size = t.ints({3, 4}), two = t.ints({2, 2}), one = t.ints({1, 1}), none = t.ints({0, 0});
  t.op("aten.col2im.default", {in, size, two, one, none, one, t.expect(y)});
}

void upsample(Trials& trials) {
  Trial& t = trials.emplace_back("upsample_nearest2d", 0);
  const Array x = random({1, 2, 3, 5});
  Array y({1, 2, 6, 10});
  for (u32 c = 0; c < 2; ++c)
    for (u32 i = 0; i < 6; ++i)
      for (u32 j = 0; j < 10; ++j) y.at({0, c, i, j}) = x.at({0, c, i / 2, j / 2});
  const u32 in = t.give(x), size = t.ints({6, 10});
  t.op("aten.upsample_nearest2d.vec", {in, size, t.null(), t.expect(y)});
}

void sample(Trials& trials) {
  Trial& t = trials.emplace_back("grid_sampler_2d");
  const Array x = random({1, 2, 5, 4}), grid = random({1, 3, 3, 2}, -1.2, 1.2);
  Array y({1, 2, 3, 3});
  for (u32 c = 0; c < 2; ++c)
    for (u32 i = 0; i < 9; ++i) {
      const auto place = std::span(grid.v).subspan(size_t(i) * 2, 2);
      const f64 column = std::clamp((place[0] + 1) / 2 * 3, 0.0, 3.0);
      const f64 row = std::clamp((place[1] + 1) / 2 * 4, 0.0, 4.0);
      const u32 r0 = u32(row), c0 = u32(column), r1 = std::min(r0 + 1, 4u), c1 = std::min(c0 + 1, 3u);
      const f64 r = row - r0, q = column - c0;
      y.v[c * 9 + i] = (1 - r) * ((1 - q) * x.at({0, c, r0, c0}) + q * x.at({0, c, r0, c1})) +
                       r * ((1 - q) * x.at({0, c, r1, c0}) + q * x.at({0, c, r1, c1}));
    }
  const u32 in = t.give(x), at = t.give(grid);
  t.op("aten.grid_sampler_2d.default", {in, at, t.integer(0), t.integer(1), t.boolean(true), t.expect(y)});
}

void priors(Trials& trials) {
  Trial& t = trials.emplace_back("grid_priors", 0);
  Array y({6, 2});
  for (u32 i = 0; i < 6; ++i) {
    const u32 row = i / 3, column = i % 3;
    y.at({i, 0}) = (column + 0.5) * 8;
    y.at({i, 1}) = (row + 0.5) * 8;
  }
  const u32 in = t.give(random({1, 4, 2, 3}));
  t.op("et_vk.grid_priors.default", {in, t.integer(8), t.number(0.5), t.expect(y)});
}

void batch_norm(Trials& trials) {
  Trial& t = trials.emplace_back("batch_norm");
  const Array x = random({1, 3, 4, 5}), w = random({3}), b = random({3}, -1, 1), mean = random({3}, 0, 1);
  const Array variance = random({3}, 0.5, 2);
  Array y(x.shape);
  for (u32 i = 0; i < y.size(); ++i) {
    const u32 c = i / 20;
    y.v[i] = (x.v[i] - mean.v[c]) / std::sqrt(variance.v[c] + 1e-5) * w.v[c] + b.v[c];
  }
  const u32 in = t.give(x), weight = t.keep(w), bias = t.keep(b), means = t.keep(mean), variances = t.keep(variance);
  const u32 out = t.expect(y), no_mean = t.tensor(DType::f32, {0}), no_deviation = t.tensor(DType::f32, {0});
  t.op("aten._native_batch_norm_legit_no_training.default",
       {in, weight, bias, means, variances, t.number(0.1), t.number(1e-5), t.list({out, no_mean, no_deviation})});
}

}  // namespace

void add_images(Trials& trials) {
  convolution(trials, "convolution", {1, 3, 7, 9}, {5, 3, 3, 3}, {1, 1, 1});
  convolution(trials, "convolution in fours", {1, 8, 8, 8}, {12, 8, 3, 3}, {2, 1, 1});
  convolution(trials, "convolution pointwise", {1, 8, 5, 8}, {6, 8, 1, 1}, {});
  convolution(trials, "convolution grouped", {1, 6, 5, 5}, {4, 3, 3, 3}, {1, 0, 2});
  convolution(trials, "convolution depthwise", {1, 5, 7, 6}, {5, 1, 3, 3}, {1, 1, 5});
  for (std::string_view route : routes_of("depthwise", false))
    convolution(trials, str("convolution depthwise ", route), {1, 5, 7, 19}, {5, 1, 5, 5}, {2, 2, 5},
                {str("depthwise=", route)});
  for (std::string_view route : routes_of("conv", false))
    convolution(trials, str("convolution ", route), {1, 3, 7, 9}, {18, 3, 3, 3}, {2, 1, 1}, {str("conv=", route)});
  volume(trials);
  fold(trials);
  pools(trials);
  upsample(trials);
  sample(trials);
  priors(trials);
  batch_norm(trials);
}

}  // namespace pteron::selftest
