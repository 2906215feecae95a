// SPDX-License-Identifier: BSD-3-Clause
// Graphs that were found to be wrong once, at their simplest.
#include "differential/agreement.h"
#include "gpu/environment.h"

#include <gtest/gtest.h>

#include <limits>

namespace pteron::differential {
namespace {

using test::GraphBuilder;
using test::tensor_of;

TEST(Regressions, AGateOfBytesIsRefusedWithPassesToo) {
  constexpr u32 depth = 64, group = 16;
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, depth})), scales_of_groups = depth / group;
  const auto linear = [&](u8 weight) {
    const u32 w = b.constant<u8>(DType::u8, {1, depth / 2}, std::vector<u8>(depth / 2, weight));
    const u32 s = b.constant<f32>(DType::f32, {scales_of_groups, 1}, {0.25, 0.125, 0.0625, 0.125});
    const u32 y = b.tensor(DType::f32, {1, 1});
    b.op("et_vk.linear_q4gsw.default", {x, w, s, b.integer(group), b.null(), y});
    return y;
  };
  const u32 gate = linear(0x9a), up = linear(0x6b), rounded = b.tensor(DType::u8, {1, 1});
  const u32 product = b.tensor(DType::f32, {1, 1}), y = b.tensor(DType::f32, {1, 1});
  b.op("aten.sigmoid.default", {gate, rounded});
  b.op("aten.mul.Tensor", {gate, rounded, product});
  b.op("aten.mul.Tensor", {up, product, y});
  b.output(y);
  const Sample sample{b, {{{tensor_of<f32>(DType::f32, {1, depth}, std::vector<f32>(depth, 0.125f))}}}, true};
  for (const LoadOptions& options : {LoadOptions(), test::without_passes()})
    EXPECT_NE(run_engine(b.program(), sample, options).error.find("must be floating-point"), std::string::npos);
}

Tensor counting(const Shape& shape) {
  std::vector<f32> values(shape.numel());
  for (size_t i = 0; i < values.size(); ++i) values[i] = f32(i + 1);
  return tensor_of<f32>(DType::f32, shape, values);
}

// The placeholder was given its largest shape, and with it the value whose name it had: the cache got more of it.
TEST(Regressions, AnArgumentGetsNoOtherShapeByBeingTheResult) {
  const Shape most{1, 3, 1, 2}, now{1, 1, 1, 2}, all{1, 4, 1, 2};
  GraphBuilder b;
  const u32 value = b.input(b.tensor(DType::f32, most), true), y = b.tensor(DType::f32, all);
  const u32 cache = b.constant<f32>(DType::f32, all, std::vector<f32>(8, 7));
  b.op("update_cache.default", {value, cache, b.integer(0), value});
  b.op("aten.neg.default", {cache, y});
  b.output(y);
  const Sample sample{b, {{{counting(now)}}, {{counting(most)}}}, true};
  for (const LoadOptions& options : {LoadOptions(), test::without_passes()})
    EXPECT_NE(run_engine(b.program(), sample, options).error.find("written over a tensor"), std::string::npos);
}

TEST(Regressions, ASliceOverWhatItIsCutFromIsRefusedWhereItIsShorter) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4}), true);
  b.op("aten.slice_copy.Tensor", {x, b.integer(0), b.integer(-3), b.null(), b.integer(1), b.tensor(DType::f32, {3})});
  const u32 n = b.symint();
  b.op("sym_size.int", {x, b.integer(0), n});
  const u32 start = b.symint();
  b.op("sub", {b.integer(4), n, start});
  b.op("aten.slice_copy.Tensor", {x, b.integer(0), start, b.null(), b.integer(1), x});
  b.output(x, true);
  const Sample sample{b, {{{counting({4})}}, {{counting({3})}}}, true};
  for (const LoadOptions& options : {LoadOptions(), test::without_passes()}) {
    const EngineRun run = run_engine(b.program(), sample, options);
    EXPECT_EQ(difference(run, expect(b.program(), sample, few_runs), true), "");
    EXPECT_NE(run.error.find("written over a tensor"), std::string::npos) << run.error;
  }
}

// The next step's input had the shape that the result had left behind, so what read it before was not planned again.
TEST(Regressions, AnInputGetsNoOtherShapeFromWhatIsWrittenOverIt) {
  const Shape most{2, 3};
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, most), true), z = b.input(b.tensor(DType::f32, most));
  const u32 y = b.tensor(DType::f32, {1, 2, 3});
  b.op("aten.unsqueeze_copy.default", {x, b.integer(0), y});
  b.op("aten.neg.default", {z, x});
  b.output(y, true);
  const Sample sample{b, {{{counting({1, 3}), counting(most)}}, {{counting(most), counting(most)}}}, true};
  const Sample same{b, {{{counting(most), counting(most)}}}, false};
  for (const LoadOptions& options : {LoadOptions(), test::without_passes()}) {
    EXPECT_NE(run_engine(b.program(), sample, options).error.find("written over a tensor"), std::string::npos);
    EXPECT_EQ(difference(run_engine(b.program(), same, options), expect(b.program(), same, few_runs), false), "");
  }
}

TEST(Regressions, ASymbolicIntegerIsSetOnce) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4}), true), n = b.symint(), y = b.tensor(DType::f32, {4});
  b.op("sym_size.int", {x, b.integer(0), n});
  b.op("aten.full.default", {b.list({n}), b.integer(1), b.null(), b.null(), b.null(), b.null(), y});
  b.op("sub", {b.integer(4), b.integer(1), n});
  b.output(y, true);
  const Sample sample{b, {{{counting({2})}}, {{counting({3})}}}, true};
  for (const LoadOptions& options : {LoadOptions(), test::without_passes()})
    EXPECT_NE(run_engine(b.program(), sample, options).error.find("set by two ops"), std::string::npos);
}

TEST(Regressions, WhatIsWrittenOverAConstantResultIsGoneInTheNextStep) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2})), t = b.tensor(DType::f32, {2}), y = b.tensor(DType::f32, {2});
  b.op("aten.full.default", {b.ints({2}), b.integer(1), b.null(), b.null(), b.null(), b.null(), t});
  b.op("aten.neg.default", {t, y});
  b.op("aten.sin.default", {x, t});
  b.output(y);
  b.output(t);
  expect_agreement(b, {{{counting({2})}}, {{counting({2})}}});
}

// What stood in scratch memory came over what the op had nothing to do with.
TEST(Regressions, AnOpThatChangesNothingLeavesWhatItIsWrittenOver) {
  GraphBuilder b;
  const u32 none = b.input(b.tensor(DType::i32, {0})), values = b.input(b.tensor(DType::f32, {0}));
  const u32 x = b.input(b.tensor(DType::f32, {4})), z = b.input(b.tensor(DType::f32, {4}));
  const u32 w = b.input(b.tensor(DType::f32, {4})), mask = b.tensor(DType::boolean, {4});
  b.op("aten.index_put.default", {x, b.list({none}), values, b.boolean(true), x});
  b.op("aten.scatter_add.default", {z, b.integer(0), none, values, z});
  b.op("aten.native_dropout.default", {w, b.number(0.5), b.boolean(false), b.list({w, mask})});
  for (u32 v : {x, z, w}) {
    const u32 y = b.tensor(DType::f32, {4});
    b.op("aten.neg.default", {v, y});
    b.output(y);
  }
  const Tensor no_index(DType::i32, {0}), no_value(DType::f32, {0});
  expect_agreement(b, {{{no_index, no_value, counting({4}), counting({4}), counting({4})}}});
}

// Fused, it was called a fault of the engine; alone, the end of the weight was left out.
TEST(Regressions, RowsShorterThanAWeightOfNibblesAreRefused) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2, 16}), true);
  const auto linear = [&] {
    const u32 w = b.constant<u8>(DType::u8, {1, 8}, std::vector<u8>(8, 0x9a));
    const u32 s = b.constant<f32>(DType::f32, {2, 4}, std::vector<f32>(8, 0.25));
    const u32 y = b.tensor(DType::f32, {2, 1});
    b.op("et_vk.linear_q4gsw.default", {x, w, s, b.integer(8), b.null(), y});
    return y;
  };
  const u32 gate = linear(), up = linear(), sigmoid = b.tensor(DType::f32, {2, 1});
  const u32 product = b.tensor(DType::f32, {2, 1}), y = b.tensor(DType::f32, {2, 1});
  b.op("aten.sigmoid.default", {gate, sigmoid});
  b.op("aten.mul.Tensor", {gate, sigmoid, product});
  b.op("aten.mul.Tensor", {up, product, y});
  b.output(y, true);
  for (const LoadOptions& options : {LoadOptions(), test::without_passes()}) {
    const EngineRun run = run_engine(b.program(), Sample{b, {{{counting({2, 15})}}}, true}, options);
    EXPECT_NE(run.error.find("rows have 15 elements, but the weight is for 16"), std::string::npos) << run.error;
    EXPECT_EQ(run_engine(b.program(), Sample{b, {{{counting({1, 16})}}}, true}, options).error, "");
  }
}

// What an op refuses is refused with passes, too: they must not take it for another op before it is asked.
void expect_refused(const GraphBuilder& b, const std::vector<Tensor>& inputs, std::string_view words) {
  const Sample sample{b, {{inputs}}, true};
  for (const LoadOptions& options : {LoadOptions(), test::without_passes()}) {
    const std::string error = run_engine(b.program(), sample, options).error;
    EXPECT_NE(error.find(words), std::string::npos) << error;
  }
}

struct Gate {
  DType sigmoid = DType::f32;
  Shape norm{8};
  DType bias = DType::f32;
};
GraphBuilder gated(const Gate& gate) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, 8})), normed = b.tensor(DType::f32, {1, 8});
  b.op("et_vk.rms_norm.default",
       {x, b.constant<f32>(DType::f32, gate.norm, std::vector<f32>(gate.norm.numel(), 0.5)), b.number(1e-5), normed});
  const auto linear = [&](u8 codes, f32 scale) {
    const u32 w = b.constant<u8>(DType::u8, {8, 4}, std::vector<u8>(32, codes));
    const u32 s = b.constant<f32>(DType::f32, {1, 8}, std::vector<f32>(8, scale));
    const u32 bias = b.constant<u32>(gate.bias, {8}, std::vector<u32>(8, 0)), y = b.tensor(DType::f32, {1, 8});
    b.op("et_vk.linear_q4gsw.default", {normed, w, s, b.integer(8), bias, y});
    return y;
  };
  const u32 g = linear(0x9a, 0.25), up = linear(0x6b, 0.125), sigmoid = b.tensor(gate.sigmoid, {1, 8}),
            product = b.tensor(DType::f32, {1, 8}), y = b.tensor(DType::f32, {1, 8});
  b.op("aten.sigmoid.default", {g, sigmoid});
  b.op("aten.mul.Tensor", {g, sigmoid, product});
  b.op("aten.mul.Tensor", {up, product, y});
  b.output(y);
  return b;
}

TEST(Regressions, AGateOfTruthValuesIsRefusedWithPassesToo) {
  expect_refused(gated({.sigmoid = DType::boolean}), {counting({1, 8})}, "the result must be floating-point, not bool");
}

TEST(Regressions, ANormOfAnotherWidthIsRefusedWithPassesToo) {
  expect_refused(gated({.norm = {}}), {counting({1, 8})}, "has 1 elements, but rows of");
}

TEST(Regressions, ABiasOfIntegersIsRefused) {
  expect_refused(gated({.bias = DType::i32}), {counting({1, 8})}, "the bias must be floating-point, not int32");
}

TEST(Regressions, AComparisonThatGivesFloatsIsRefusedWithPassesToo) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {8})), less = b.tensor(DType::f32, {8}), y = b.tensor(DType::f32, {8});
  b.op("aten.lt.Scalar", {x, b.number(3), less});
  b.op("aten.where.self", {less, x, x, y});
  b.output(y);
  expect_refused(b, {counting({8})}, "the result must be bool, not float32");
}

// Of a value that never has rows, whatever the file says of the result.
TEST(Regressions, ALinearOfNoRowsIsRefusedIfItsResultHasSome) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {0, 8}), true), y = b.tensor(DType::f32, {1, 8});
  b.op("et_vk.linear_q4gsw.default",
       {x, b.constant<u8>(DType::u8, {8, 4}, std::vector<u8>(32, 0x9a)),
        b.constant<f32>(DType::f32, {1, 8}, std::vector<f32>(8, 0.25)), b.integer(8), b.null(), y});
  b.output(y, true);
  expect_refused(b, {counting({0, 8})}, "the result [0, 8] never has an element, but the file says [1, 8]");
}

TEST(Regressions, BoundsThatNoIntegerMeetsAreRefused) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::i32, {3})), y = b.tensor(DType::i32, {3});
  b.op("aten.clamp.default", {x, b.integer(i64(1) << 40), b.null(), y});
  b.output(y);
  expect_refused(b, {tensor_of<i32>(DType::i32, {3}, {1, 2, 3})}, "no integer of 32 bits is within the bound");
}

// An infinite element belongs to its key alone, also where a head is narrower than what shares it.
TEST(Regressions, AttentionToAnInfiniteKeyIsFinite) {
  GraphBuilder b;
  const u32 q = b.input(b.tensor(DType::f32, {1, 2, 1, 8})), k = b.input(b.tensor(DType::f32, {1, 2, 70, 8})),
            v = b.input(b.tensor(DType::f32, {1, 2, 70, 8})), y = b.tensor(DType::f32, {1, 2, 1, 8});
  b.op("et_vk.sdpa.default", {q, k, v, b.null(), b.null(), y});
  b.output(y);
  Tensor keys = counting({1, 2, 70, 8});
  for (f32& x : keys.as<f32>()) x = 0.25f;
  keys.as<f32>()[8 * 7] = -std::numeric_limits<f32>::infinity();
  const Sample sample{
      b,
      {{{tensor_of<f32>(DType::f32, {1, 2, 1, 8}, std::vector<f32>(16, 0.5f)), keys, counting({1, 2, 70, 8})}}},
      true};
  EXPECT_EQ(difference(run_engine(b.program(), sample, LoadOptions()), expect(b.program(), sample, few_runs), false),
            "");
}

TEST(Regressions, RotatingNoBatchIsRefusedIfItsResultHasSome) {
  GraphBuilder b;
  const u32 q = b.input(b.tensor(DType::f32, {1, 3, 2, 4}), true),
            k = b.input(b.tensor(DType::f32, {0, 3, 1, 4}), true),
            cosines = b.input(b.tensor(DType::f32, {3, 2}), true), sines = b.input(b.tensor(DType::f32, {3, 2}), true),
            y = b.tensor(DType::f32, {1, 3, 2, 4});
  b.op("et_vk.apply_rotary_emb.default", {q, k, cosines, sines, b.list({y, b.tensor(DType::f32, {1, 3, 1, 4})})});
  b.output(y, true);
  expect_refused(b, {counting({1, 3, 2, 4}), counting({0, 3, 1, 4}), counting({3, 2}), counting({3, 2})},
                 "never has an element, but the file says [1, 3, 1, 4]");
}

TEST(Regressions, WhatIsNoNumberBecomesZeroInFourBits) {
  constexpr f32 nan = std::numeric_limits<f32>::quiet_NaN(), infinity = std::numeric_limits<f32>::infinity();
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2, 4})), scales = b.input(b.tensor(DType::f32, {1, 2})),
            y = b.tensor(DType::u8, {2, 2});
  b.op("et_vk.q4gsw_requant.default", {x, scales, b.integer(4), y});
  b.output(y);
  expect_agreement(b, {{{tensor_of<f32>(DType::f32, {2, 4}, {nan, 1, nan, nan, infinity, 1, -infinity, 0}),
                         tensor_of<f32>(DType::f32, {1, 2}, {0.25, 0.5})}}});
}

TEST(Regressions, ARowThatDoesNotCountHasNoGradientWhateverItHolds) {
  constexpr f32 nan = std::numeric_limits<f32>::quiet_NaN(), infinity = std::numeric_limits<f32>::infinity();
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {3, 2})), labels = b.input(b.tensor(DType::i32, {3}));
  const u32 loss = b.tensor(DType::f32, {}), dx = b.tensor(DType::f32, {3, 2});
  b.op("et_vk.fused_ce.default", {x, labels, b.number(1), b.list({loss, dx})});
  b.output(loss);
  b.output(dx);
  expect_agreement(b, {{{tensor_of<f32>(DType::f32, {3, 2}, {nan, 1, infinity, 2, 3, 4}),
                         tensor_of<i32>(DType::i32, {3}, {-1, -1, 1})}}});
}

TEST(Regressions, AClampLeavesWhatIsNoNumber) {
  constexpr f32 nan = std::numeric_limits<f32>::quiet_NaN();
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, 1, 1, 3})), y = b.tensor(DType::f32, {1, 1, 1, 3});
  b.op("et_vk.conv_with_clamp.default",
       {x, b.constant<f32>(DType::f32, {1, 1, 1, 1}, {2}), b.null(), b.ints({1, 1}), b.ints({0, 0}), b.ints({1, 1}),
        b.boolean(false), b.ints({0, 0}), b.integer(1), b.number(0), b.number(6), y});
  b.output(y);
  expect_agreement(b, {{{tensor_of<f32>(DType::f32, {1, 1, 1, 3}, {nan, 1, 4})}}});
}

TEST(Regressions, TheScaleOfWhatIsNoNumberIsNone) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {3})), scale = b.tensor(DType::f32, {1}), zero = b.tensor(DType::i32, {1});
  b.op("quantized_decomposed.choose_qparams.tensor",
       {x, b.integer(-128), b.integer(127), b.number(1e-6), b.null(), b.list({scale, zero})});
  b.output(scale);
  for (const f32 v : {std::numeric_limits<f32>::quiet_NaN(), std::numeric_limits<f32>::infinity(), 7.f})
    expect_agreement(b, {{{tensor_of<f32>(DType::f32, {3}, {1, v, -2})}}});
}

// As torch multiplies: what a channel is divided by makes up for its gain first.
TEST(Regressions, ABatchNormOverflowsOnlyWhereItsResultDoes) {
  GraphBuilder b;
  const auto number = [&](f32 v) { return b.constant<f32>(DType::f32, {1}, {v}); };
  const u32 x = b.input(b.tensor(DType::f32, {1, 1, 2})), y = b.tensor(DType::f32, {1, 1, 2});
  b.op("aten._native_batch_norm_legit_no_training.default",
       {x, number(-0.5f), number(1), number(0), number(0.25f), b.number(0.1), b.number(1e-5),
        b.list({y, b.tensor(DType::f32, {0}), b.tensor(DType::f32, {0})})});
  b.output(y);
  expect_agreement(b, {{{tensor_of<f32>(DType::f32, {1, 1, 2}, {3e38f, -2})}}});
}

// Or the way "in a batch" would say nothing.
TEST(Batches, StepsOfASampleRunBesideOthers) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2})), state = b.constant<f32>(DType::f32, {2}, {1, 2});
  b.op("aten.add.Tensor", {state, x, b.integer(1), state});
  b.output(state);
  const Sample sample{b, {{{counting({2})}}, {{counting({2})}}, {{counting({2})}, true}}, false};
  const EngineRun run = run_engine(b.program(), sample, Way{"in a batch", {}, true});
  EXPECT_EQ(difference(run, expect(b.program(), sample, few_runs), false), "");
  EXPECT_EQ(run.in_batch, 3u);
}

}  // namespace
}  // namespace pteron::differential
