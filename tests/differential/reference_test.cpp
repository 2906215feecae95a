// SPDX-License-Identifier: BSD-3-Clause
// What torch's goldens don't show: what the reference interpreter keeps, and what simple means to the shrinker.
#include "differential/agreement.h"
#include "differential/engine.h"
#include "differential/random/shrink.h"
#include "differential/reference/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace pteron::differential {
namespace {

using test::GraphBuilder;
using test::tensor_of;
using Floats = std::vector<f32>;

Tensor floats(const Shape& shape, const Floats& values) { return tensor_of<f32>(DType::f32, shape, values); }

Floats first(reference::Method& method, const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> outputs = method.execute(inputs);
  const auto values = outputs.at(0).as<f32>();
  return {values.begin(), values.end()};
}

TEST(Reference, ConstantsKeepWhatOpsWroteUntilAReset) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2})), sum = b.constant<f32>(DType::f32, {2}, {1, 2});
  b.op("aten.add.Tensor", {sum, x, b.integer(1), sum});
  b.output(sum);
  reference::Method method(b.program());
  EXPECT_EQ(first(method, {floats({2}, {1, 1})}), (Floats{2, 3}));
  EXPECT_EQ(first(method, {floats({2}, {1, 1})}), (Floats{3, 4}));
  method.reset();
  EXPECT_EQ(first(method, {floats({2}, {5, 5})}), (Floats{6, 7}));
}

TEST(Reference, InputsAreNewInEveryStep) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2})), y = b.tensor(DType::f32, {2});
  b.op("aten.neg.default", {x, x});
  b.op("aten.add.Tensor", {x, x, b.integer(1), y});
  b.output(y);
  reference::Method method(b.program());
  EXPECT_EQ(first(method, {floats({2}, {1, 2})}), (Floats{-2, -4}));
  EXPECT_EQ(first(method, {floats({2}, {1, 2})}), (Floats{-2, -4}));
}

TEST(Reference, APrepackedConstantIsTheConstant) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2})), c = b.constant<f32>(DType::f32, {2}, {1, 2});
  const u32 packed = b.tensor(DType::f32, {2}), y = b.tensor(DType::f32, {2});
  b.op("et_vk.prepack.default", {c, packed});
  b.op("aten.clone.default", {x, b.null(), packed});
  b.op("aten.neg.default", {c, y});
  b.output(y);
  reference::Method method(b.program());
  EXPECT_EQ(first(method, {floats({2}, {7, 8})}), (Floats{-7, -8}));
}

TEST(Reference, AResultStaysWhenTheCacheThatItCameFromIsWritten) {
  GraphBuilder b;
  const Shape shape{1, 2, 1, 1};
  const u32 value = b.input(b.tensor(DType::f32, {1, 1, 1, 1})), cache = b.constant<f32>(DType::f32, shape, {1, 2});
  const u32 copy = b.tensor(DType::f32, shape), y = b.tensor(DType::f32, shape);
  b.op("aten.clone.default", {cache, b.null(), copy});
  b.op("update_cache.default", {value, cache, b.integer(1), b.tensor(DType::f32, {1})});
  b.op("aten.sub.Tensor", {cache, copy, b.integer(1), y});
  b.output(y);
  reference::Method method(b.program());
  EXPECT_EQ(first(method, {floats({1, 1, 1, 1}, {10})}), (Floats{0, 8}));
  EXPECT_EQ(first(method, {floats({1, 1, 1, 1}, {11})}), (Floats{0, 1}));
}

// torch's CPU adds a product without rounding it first, shaders may not.
TEST(Reference, ATermThatOverflowsOnItsOwnMayMakeASumInfinite) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2})), times = b.input(b.tensor(DType::f32, {2}));
  const u32 y = b.tensor(DType::f32, {2});
  b.op("aten.add.Tensor", {x, times, b.number(3e38), y});
  b.output(y);
  const Sample sample{b, {{{floats({2}, {1e38f, 1e38f}), floats({2}, {-1.1875f, -0.75f})}}}};
  const Expected expected = expect(b.program(), sample, few_runs);
  EXPECT_TRUE(std::isinf(expected.slack[0][0].data[0]));
  EXPECT_LT(expected.slack[0][0].data[1], 1e33);
}

// torch's position is 3, as 2.5 · 1.4 − 0.5 is rounded to; without rounding it would be a little less.
TEST(Reference, APositionInAnImageMayBeRounded) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, 1, 1, 7})), y = b.tensor(DType::f32, {1, 1, 1, 5});
  b.op("aten.upsample_bilinear2d.default", {x, b.ints({1, 5}), b.boolean(false), b.null(), b.null(), y});
  b.output(y);
  expect_agreement(b, {{{floats({1, 1, 1, 7}, {0, 0, 85, 0, 85, 0, 0})}}});
}

// From 3 on, four elements are others than those from just below 3.
TEST(Reference, ARoundedPositionInAnImageMayHaveOtherNeighbours) {
  for (const size_t at : {1, 5}) {
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, {1, 1, 1, 7})), y = b.tensor(DType::f32, {1, 1, 1, 5});
    b.op("aten.upsample_bicubic2d.default", {x, b.ints({1, 5}), b.boolean(false), b.null(), b.null(), y});
    b.output(y);
    Floats image(7, 1);
    image[at] = NAN;
    expect_agreement(b, {{{floats({1, 1, 1, 7}, image)}}});
  }
}

TEST(Reference, WhatRoundingMakesOfEitherSignMayBeDividedByAsZero) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2})), less = b.tensor(DType::f32, {2}), y = b.tensor(DType::f32, {2});
  b.op("aten.sub.Tensor", {x, b.constant<f32>(DType::f32, {2}, {1, 1}), b.integer(1), less});
  b.op("aten.reciprocal.default", {less, y});
  b.output(y);
  const Expected expected = expect(b.program(), {b, {{{floats({2}, {1.0000001f, 1.5f})}}}}, few_runs);
  EXPECT_TRUE(std::isinf(expected.slack[0][0].data[0]));
  EXPECT_LT(expected.slack[0][0].data[1], 1e-4);
}

// Tables need not be those of angles.
TEST(Reference, ARotationIsAsExactAsItsProducts) {
  GraphBuilder b;
  const u32 q = b.input(b.tensor(DType::f32, {1, 1, 1, 2})), y = b.tensor(DType::f32, {1, 1, 1, 2});
  const u32 table = b.constant<f32>(DType::f32, {1, 1}, {8388609});
  b.op("et_vk.apply_rotary_emb.default", {q, q, table, table, b.list({y, b.tensor(DType::f32, {1, 1, 1, 2})})});
  b.output(y);
  expect_agreement(b, {{{floats({1, 1, 1, 2}, {0.7f, 0.69f})}}});
  const Expected expected = expect(b.program(), {b, {{{floats({1, 1, 1, 2}, {0.7f, 0.69f})}}}}, few_runs);
  EXPECT_GT(expected.slack[0][0].data[0], 1);
  EXPECT_LT(expected.slack[0][0].data[0], 10);
}

TEST(Reference, AttentionOverWhatIsNoNumberIsNone) {
  GraphBuilder b;
  const u32 q = b.input(b.tensor(DType::f32, {1, 1, 2, 1})), v = b.input(b.tensor(DType::f32, {1, 1, 2, 1}));
  const u32 mask = b.constant<u8>(DType::boolean, {2, 2}, {1, 1, 0, 0}), y = b.tensor(DType::f32, {1, 1, 2, 1});
  b.op("aten.scaled_dot_product_attention.default",
       {q, q, v, mask, b.number(0), b.boolean(false), b.null(), b.boolean(false), y});
  b.output(y);
  reference::Method method(b.program());
  const Floats out = first(method, {floats({1, 1, 2, 1}, {1, 2}), floats({1, 1, 2, 1}, {NAN, 1})});
  EXPECT_TRUE(std::isnan(out[0]));
  const Floats masked = first(method, {floats({1, 1, 2, 1}, {1, 2}), floats({1, 1, 2, 1}, {3, 1})});
  EXPECT_EQ(masked[1], 0);  // it sees no key
}

TEST(Reference, AFilterThatIsNoNumberMayReachBeyondAnImage) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, 1, 3})), y = b.tensor(DType::f32, {1, 1, 3});
  b.op("aten.convolution.default", {x, b.constant<f32>(DType::f32, {1, 1, 3}, {NAN, 1, 1}), b.null(), b.ints({1}),
                                    b.ints({1}), b.ints({1}), b.boolean(false), b.ints({0}), b.integer(1), y});
  b.output(y);
  expect_agreement(b, {{{floats({1, 1, 3}, {1, 2, 3})}}});
  reference::Method method(b.program());
  const Floats out = first(method, {floats({1, 1, 3}, {1, 2, 3})});
  EXPECT_EQ(out[0], 3);
  EXPECT_TRUE(std::isnan(out[1]));
}

// torch gives NaN for some of these.
TEST(Reference, ScoresMayOverflowBelowZeroToo) {
  GraphBuilder b;
  const Shape shape{1, 1, 2, 2};
  const u32 q = b.input(b.tensor(DType::f32, shape)), y = b.tensor(DType::f32, shape);
  b.op("et_vk.sdpa.default", {q, q, q, b.null(), b.number(-3e38), y});
  b.output(y);
  const Expected expected = expect(b.program(), {b, {{{floats(shape, {1, 2, -1, 1})}}}}, few_runs);
  EXPECT_TRUE(std::isinf(expected.slack[0][0].data[0]));
}

TEST(Reference, AnInputInHalfPrecisionMayKeepTheDigitsOfTheHost) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f16, {2}), false, DType::f32), y = b.tensor(DType::f32, {2});
  b.op("aten.remainder.Scalar", {x, b.number(0.5), y});
  b.output(y);
  const Sample sample{b, {{{floats({2}, {-0.0371201374f, 0.25f})}}}};
  for (const Disguise& disguise : disguises()) {
    Way way{std::string(disguise.name), {}};
    way.options.device = disguised(disguise);
    EXPECT_EQ(disagreement(sample, way), "") << disguise.name;
  }
}

bool has(const Sample& sample, const char* name) {
  return std::ranges::any_of(sample.graph.graph.calls, [&](const auto& call) { return call.name == name; });
}

TEST(Shrink, LeavesLittleBesideWhatMatters) {
  const auto fails = [](const Sample& s) { return has(s, "et_vk.adamw_step.default"); };
  u32 found = 0;
  for (u64 seed = 1; seed < 400 && found < 5; ++seed) {
    Choices choices(seed);
    if (const Sample sample = sample_of(choices); !fails(sample) || sample.graph.graph.calls.size() < 6) continue;
    ++found;
    const Sample sample = sample_of(shrink(choices.made(), fails, 2000));
    EXPECT_TRUE(fails(sample));
    EXPECT_LE(sample.graph.graph.calls.size(), 2u) << as_code(sample, "TooLong");
  }
  EXPECT_EQ(found, 5u);
}

}  // namespace
}  // namespace pteron::differential
