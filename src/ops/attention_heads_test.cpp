// SPDX-License-Identifier: BSD-3-Clause
// Attention between permutations that it does not need gives what it gives with them.
#include "gpu/run_graph.h"

namespace pteron::test {
namespace {

struct Answer {
  std::vector<f32> values;
  u32 dispatches = 0;
};

// Three positions of two heads in two batches; positions come first.
class Builder : public GraphBuilder {
 public:
  const Shape shape{2, 3, 2, 4}, by_head{2, 2, 3, 4};
  const u32 q = input(tensor(DType::f32, shape)), k = input(tensor(DType::f32, shape)),
            v = input(tensor(DType::f32, shape));

  u32 permuted(u32 x, const Shape& to, const std::vector<i64>& axes = {0, 2, 1, 3}) {
    const u32 y = tensor(DType::f32, to);
    op("aten.permute_copy.default", {x, ints(axes), y});
    return y;
  }
  u32 heads(u32 x) { return permuted(x, by_head); }
  u32 attend(u32 query, u32 key, u32 value, bool causal = false) {
    const u32 y = tensor(DType::f32, by_head);
    op("aten.scaled_dot_product_attention.default",
       {query, key, value, null(), number(0), boolean(causal), null(), boolean(false), y});
    return y;
  }

  Answer run(bool with_pass) const {
    LoadOptions options;
    options.device = device();
    if (!with_pass) options.disabled_passes = {"attention-heads"};
    auto program = Program::load(this->program(), options);
    if (!program) return ADD_FAILURE() << program.error().to_string(), Answer{};
    auto method = program->method();
    if (!method) return ADD_FAILURE() << method.error().to_string(), Answer{};
    const std::vector<Tensor> inputs{floats(shape, noise(48)), floats(shape, noise(48, 2)),
                                     floats(shape, noise(48, 3))};
    const std::vector<TensorView> views(inputs.begin(), inputs.end());
    auto outputs = method->execute(views);
    if (!outputs) return ADD_FAILURE() << outputs.error().to_string(), Answer{};
    std::vector<f32> values;
    for (const Tensor& output : *outputs) values.insert(values.end(), output.as<f32>().begin(), output.as<f32>().end());
    return {values, method->stats().dispatches};
  }

  void expect_dispatches(u32 with, u32 without) const {
    const Answer fused = run(true), unfused = run(false);
    EXPECT_EQ(fused.dispatches, with);
    EXPECT_EQ(unfused.dispatches, without);
    expect_close(fused.values, std::vector<f64>(unfused.values.begin(), unfused.values.end()), 1e-6);
  }
};

TEST(AttentionHeads, NeedsNoPermutations) {
  Builder b;
  b.output(b.permuted(b.attend(b.heads(b.q), b.heads(b.k), b.heads(b.v), true), b.shape));
  b.expect_dispatches(1, 5);
}

TEST(AttentionHeads, NegativeAxesAreTheSame) {
  Builder b;
  const u32 q = b.permuted(b.q, b.by_head, {-4, -2, 1, -1});
  b.output(b.permuted(b.attend(q, b.heads(b.k), b.heads(b.v)), b.shape));
  b.expect_dispatches(1, 5);
}

TEST(AttentionHeads, AResultThatOthersReadIsWrittenAsItIs) {
  Builder b;
  const u32 y = b.attend(b.heads(b.q), b.heads(b.k), b.heads(b.v));
  b.output(b.permuted(y, b.shape));
  b.output(y);
  b.expect_dispatches(2, 5);
}

TEST(AttentionHeads, APermutationThatOthersReadStays) {
  Builder b;
  const u32 q = b.heads(b.q);
  b.output(b.permuted(b.attend(q, b.heads(b.k), b.heads(b.v)), b.shape));
  b.output(q);
  b.expect_dispatches(2, 5);
}

TEST(AttentionHeads, OtherPermutationsStay) {
  Builder b;
  const u32 turned = b.permuted(b.q, {3, 2, 2, 4}, {1, 0, 2, 3}), back = b.permuted(turned, b.by_head, {1, 2, 0, 3});
  b.output(b.permuted(b.attend(back, b.heads(b.k), b.heads(b.v)), b.shape));
  b.expect_dispatches(3, 6);
}

// The keys' source has changed when attention runs.
TEST(AttentionHeads, WhatIsWrittenInBetweenIsReadBefore) {
  Builder b;
  const u32 k = b.heads(b.k);
  b.op("aten.mul.Tensor", {b.k, b.q, b.k});
  b.output(b.permuted(b.attend(b.heads(b.q), k, b.heads(b.v)), b.shape));
  const Answer fused = b.run(true), unfused = b.run(false);
  expect_close(fused.values, std::vector<f64>(unfused.values.begin(), unfused.values.end()), 1e-6);
}

}  // namespace
}  // namespace pteron::test
