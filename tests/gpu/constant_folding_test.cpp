// SPDX-License-Identifier: BSD-3-Clause
// Ops that depend on constants alone run in the first step of an instance and never again.
#include "gpu/run_graph.h"

namespace pteron::test {
namespace {

// y = x + (2 · exp(1, 1, 1)), z = 2 · exp(1, 1, 1)
GraphBuilder with_constants() {
  GraphBuilder b;
  const Shape shape{3};
  const u32 x = b.input(b.tensor(DType::f32, shape)), ones = b.tensor(DType::f32, shape),
            e = b.tensor(DType::f32, shape), sum = b.tensor(DType::f32, shape), y = b.tensor(DType::f32, shape);
  b.op("aten.full.default", {b.ints({3}), b.number(1), b.null(), b.null(), b.null(), b.null(), ones});
  b.op("aten.exp.default", {ones, e});
  b.op("aten.add.Tensor", {e, e, b.integer(1), sum});
  b.op("aten.add.Tensor", {x, sum, b.integer(1), y});
  b.output(y);
  b.output(sum);
  return b;
}

TEST(ConstantFolding, LaterStepsOnlyDoWhatDependsOnInputs) {
  GraphRun run(with_constants());
  const f32 two_e = 2 * 2.7182818f;
  for (u32 step = 0; step < 4; ++step) {
    const auto outputs = run({floats({3}, {f32(step), 1, 2})});
    ASSERT_EQ(run.error(), "");
    EXPECT_NEAR(outputs[0].as<f32>()[0], f32(step) + two_e, 1e-5);
    EXPECT_NEAR(outputs[1].as<f32>()[2], two_e, 1e-5);
    EXPECT_EQ(run.method().stats().dispatches, step == 0 ? 4u : 1u);
  }
}

TEST(ConstantFolding, ACopyOfAMethodComputesItsOwn) {
  GraphRun run(with_constants());
  run({floats({3}, {0, 1, 2})});
  auto copy = run.method().clone();
  ASSERT_TRUE(copy.has_value());
  const Tensor x = floats({3}, {5, 6, 7});
  const std::vector<TensorView> views{x};
  auto outputs = copy->execute(views);
  ASSERT_TRUE(outputs.has_value());
  EXPECT_NEAR((*outputs)[0].as<f32>()[1], 6 + 2 * 2.7182818f, 1e-5);
}

TEST(ConstantFolding, OutputsThatWereNotWantedAtFirstComeLater) {
  GraphRun run(with_constants());
  const Tensor x = floats({3}, {0, 1, 2});
  const std::vector<TensorView> views{x};
  ASSERT_TRUE(run.method().begin(views, {1}).has_value());
  ASSERT_TRUE(run.method().finish().has_value());
  const auto outputs = run({floats({3}, {0, 1, 2})});
  ASSERT_EQ(run.error(), "");
  EXPECT_NEAR(outputs[0].as<f32>()[1], 1 + 2 * 2.7182818f, 1e-5);
}

// y = x + table[index], where the index is computed from constants: 1 · `factor`.
GraphBuilder with_index(i64 factor) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2})), one = b.tensor(DType::i32, {1}), index = b.tensor(DType::i32, {1}),
            row = b.tensor(DType::f32, {1, 2}), y = b.tensor(DType::f32, {1, 2}),
            table = b.constant<f32>(DType::f32, {3, 2}, {1, 2, 30, 40, 500, 600});
  b.op("aten.full.default", {b.ints({1}), b.integer(1), b.null(), b.null(), b.null(), b.null(), one});
  b.op("aten.mul.Scalar", {one, b.integer(factor), index});
  b.op("aten.embedding.default", {table, index, b.integer(-1), b.boolean(false), b.boolean(false), row});
  b.op("aten.add.Tensor", {x, row, b.integer(1), y});
  b.output(y);
  return b;
}

TEST(ConstantFolding, WhatIsLookedUpByConstantsIsLookedUpOnce) {
  GraphRun run(with_index(2));
  for (u32 step = 0; step < 3; ++step) {
    const auto outputs = run({floats({2}, {f32(step), 1})});
    ASSERT_EQ(run.error(), "");
    EXPECT_EQ(outputs[0].as<f32>()[0], f32(step) + 500);
    EXPECT_EQ(run.method().stats().dispatches, step == 0 ? 4u : 1u);
  }
}

TEST(ConstantFolding, AnIndexOutOfRangeIsAnErrorOfEveryStep) {
  GraphRun run(with_index(7));
  for (u32 step = 0; step < 3; ++step) {
    run({floats({2}, {0, 1})});
    EXPECT_NE(run.error().find("7 is out of range; there are 3"), std::string::npos) << run.error();
  }
}

}  // namespace
}  // namespace pteron::test
