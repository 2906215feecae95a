// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/run_graph.h"

#include <cmath>

namespace pteron::test {
namespace {

struct Layer {
  Shape x{2, 3}, stats{2, 1};
  std::vector<i64> shape{3};
  u32 weights = 3;
  DType dtype = DType::f32;
  bool dynamic = false;
  DType deviation = DType::f32;
};

GraphBuilder build(const Layer& l) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(l.dtype, l.x), l.dynamic), y = b.tensor(l.dtype, l.x);
  const u32 mean = b.tensor(DType::f32, l.stats), rstd = b.tensor(l.deviation, l.stats);
  const u32 w = b.constant<f32>(DType::f32, {l.weights}, std::vector<f32>(l.weights, 2));
  b.op("aten.native_layer_norm.default", {x, b.ints(l.shape), w, b.null(), b.number(0), b.list({y, mean, rstd})});
  for (u32 out : {y, mean, rstd}) b.output(out, l.dynamic);
  return b;
}

TEST(LayerNorm, GivesMeanAndReciprocalDeviation) {
  GraphRun run(build({.dynamic = true}));
  for (u32 rows : {2u, 1u, 2u}) {
    std::vector<f32> x{1, 2, 3, 5, 5, 8};
    x.resize(size_t(rows) * 3);
    const auto outputs = run({floats({rows, 3}, x)});
    ASSERT_EQ(run.error(), "");
    EXPECT_TRUE(outputs[1].shape() == (Shape{rows, 1}));
    EXPECT_NEAR(outputs[0].as<f32>()[0], -2 * std::sqrt(1.5), 1e-5);
    EXPECT_EQ(outputs[1].as<f32>()[0], 2);
    EXPECT_NEAR(outputs[2].as<f32>()[0], std::sqrt(1.5), 1e-6);
  }
}

TEST(LayerNorm, WhatIsNotANumberStaysSoInAllResults) {
  GraphRun run(build({}));
  const auto outputs = run({floats({2, 3}, {1, std::nanf(""), 3, 5, 5, 8})});
  ASSERT_EQ(run.error(), "");
  for (const Tensor& output : outputs) {
    EXPECT_TRUE(std::isnan(output.as<f32>()[0]));
    EXPECT_FALSE(std::isnan(output.as<f32>().back()));
  }
}

TEST(LayerNorm, RejectsShapesThatDoNotFit) {
  EXPECT_NE(load_error(build({.shape = {4}})).find("axis 1 of [2, 3] should be 4"), std::string::npos);
  EXPECT_NE(load_error(build({.shape = {1, 2, 3}})).find("rows of 3 axes can't be taken from [2, 3]"),
            std::string::npos);
  EXPECT_NE(load_error(build({.shape = {}})).find("rows of 0 axes"), std::string::npos);
  EXPECT_NE(load_error(build({.weights = 4})).find("has 4 elements, but rows have 3"), std::string::npos);
}

TEST(LayerNorm, RejectsIntegers) {
  EXPECT_NE(load_error(build({.dtype = DType::i32})).find("not int32"), std::string::npos);
  EXPECT_NE(load_error(build({.deviation = DType::i32})).find("mean and deviation are floating-point, not int32"),
            std::string::npos);
}

TEST(LayerNorm, RunsNothingForNoRows) {
  GraphRun run(build({.x = {0, 3}, .stats = {0, 1}}));
  EXPECT_TRUE(run.first({floats({0, 3}, {})}).empty());
  EXPECT_EQ(run.method().stats().dispatches, 0u);
}

GraphBuilder group_norm(const Shape& x, i64 groups, u32 channels) {
  GraphBuilder b;
  const u32 in = b.input(b.tensor(DType::f32, x)), y = b.tensor(DType::f32, x);
  const Shape stats{x.dim(0), u32(std::max<i64>(groups, 0))};
  const u32 mean = b.tensor(DType::f32, stats), rstd = b.tensor(DType::f32, stats);
  const u32 w = b.constant<f32>(DType::f32, {channels}, std::vector<f32>(channels, 1));
  b.op("aten.native_group_norm.default", {in, w, b.null(), b.integer(0), b.integer(0), b.integer(0), b.integer(groups),
                                          b.number(1e-5), b.list({y, mean, rstd})});
  b.output(y);
  return b;
}

TEST(GroupNorm, RejectsChannelsThatDoNotFormGroups) {
  EXPECT_NE(load_error(group_norm({2, 6, 3}, 4, 6)).find("6 channels can't form 4 groups"), std::string::npos);
  EXPECT_NE(load_error(group_norm({2, 6, 3}, 0, 6)).find("6 channels can't form 0 groups"), std::string::npos);
  EXPECT_NE(load_error(group_norm({2, 6, 3}, 2, 5)).find("has 5 elements, but there are 6 channels"),
            std::string::npos);
  EXPECT_NE(load_error(group_norm({6}, 2, 6)).find("not [6]"), std::string::npos);
}

TEST(GroupNorm, RunsNothingForNoBatch) {
  EXPECT_TRUE(GraphRun(group_norm({0, 6, 3}, 2, 6)).first({floats({0, 6, 3}, {})}).empty());
}

GraphBuilder rms_norm(const Shape& x, u32 weights) {
  GraphBuilder b;
  const u32 in = b.input(b.tensor(DType::f32, x)), y = b.tensor(DType::f32, x);
  const u32 w = b.constant<f32>(DType::f32, {weights}, std::vector<f32>(weights, 3));
  b.op("et_vk.rms_norm.default", {in, w, b.null(), y});
  b.output(y);
  return b;
}

TEST(RmsNorm, HandlesMoreRowsThanAGridHasWorkgroups) {
  constexpr u32 rows = 70001;
  std::vector<f32> x(size_t(rows) * 2);
  for (size_t i = 0; i < x.size(); ++i) x[i] = f32(i / 2 % 7 + 1);
  for (f32 v : GraphRun(rms_norm({rows, 2}, 2)).first({floats({rows, 2}, x)})) ASSERT_NEAR(v, 3, 1e-5);
}

TEST(RmsNorm, OfWholeRowsIsTheSameOnGpus) {
  for (const u32 width : {128u, 132u, 576u, 1032u, 8192u, 8196u}) {
    constexpr u32 rows = 3;
    const std::vector<f32> x = noise(u64(rows) * width);
    std::vector<f64> expected;
    for (u32 row = 0; row < rows; ++row) {
      f64 squares = 0;
      for (u32 i = 0; i < width; ++i) squares += std::pow(f64(x[row * width + i]), 2);
      for (u32 i = 0; i < width; ++i) expected.push_back(3 * x[row * width + i] / std::sqrt(squares / width));
    }
    GraphRun run(rms_norm({rows, width}, width), device_of_type(gpu::AdapterType::discrete));
    expect_close(run.first({floats({rows, width}, x)}), expected, 1e-5);
  }
}

TEST(RmsNorm, RejectsWeightsThatDoNotFit) {
  EXPECT_NE(load_error(rms_norm({2, 3}, 4)).find("the weight has 4 elements, but rows of [2, 3] have 3"),
            std::string::npos);
  EXPECT_NE(load_error(rms_norm({}, 1)).find("at least one axis"), std::string::npos);
}

GraphBuilder batch_norm(const Shape& x, u32 channels) {
  GraphBuilder b;
  const u32 in = b.input(b.tensor(DType::f32, x)), y = b.tensor(DType::f32, x);
  const u32 mean = b.constant<f32>(DType::f32, {channels}, std::vector<f32>(channels, 1)),
            variance = b.constant<f32>(DType::f32, {channels}, std::vector<f32>(channels, 4));
  const u32 nothing = b.tensor(DType::f32, {0}), nothing_else = b.tensor(DType::f32, {channels});
  b.op("aten._native_batch_norm_legit_no_training.default",
       {in, b.null(), b.null(), mean, variance, b.number(0.1), b.integer(0), b.list({y, nothing, nothing_else})});
  b.output(y);
  return b;
}

TEST(BatchNorm, IgnoresTheResultsOfTraining) {
  EXPECT_EQ(GraphRun(batch_norm({1, 2}, 2)).first({floats({1, 2}, {3, 5})}), (std::vector<f32>{1, 2}));
}

TEST(BatchNorm, RejectsStatisticsOfOtherChannels) {
  EXPECT_NE(load_error(batch_norm({1, 2, 3}, 3)).find("the mean has 3 elements, but [1, 2, 3] has 2 channels"),
            std::string::npos);
  EXPECT_NE(load_error(batch_norm({2}, 2)).find("not [2]"), std::string::npos);
}

TEST(BatchNorm, RunsNothingForNoElements) {
  EXPECT_TRUE(GraphRun(batch_norm({0, 2, 3}, 2)).first({floats({0, 2, 3}, {})}).empty());
}

}  // namespace
}  // namespace pteron::test
