// SPDX-License-Identifier: BSD-3-Clause
// Elementwise ops that follow each other run as one kernel and give what they give one by one.
#include "gpu/run_graph.h"

#include <cmath>

namespace pteron::test {
namespace {

struct Answer {
  std::vector<f32> values;
  u32 dispatches = 0;
};

Answer run(const GraphBuilder& graph, const std::vector<Tensor>& inputs, bool fused) {
  LoadOptions options;
  options.device = device();
  if (!fused) options.disabled_passes = {"elementwise-chains"};
  auto program = Program::load(graph.program(), options);
  if (!program) return ADD_FAILURE() << program.error().to_string(), Answer{};
  auto method = program->method();
  if (!method) return ADD_FAILURE() << method.error().to_string(), Answer{};
  const std::vector<TensorView> views(inputs.begin(), inputs.end());
  auto outputs = method->execute(views);
  if (!outputs) return ADD_FAILURE() << outputs.error().to_string(), Answer{};
  const auto values = (*outputs)[0].as<f32>();
  return {{values.begin(), values.end()}, method->stats().dispatches};
}

void expect_fused(const GraphBuilder& graph, const std::vector<Tensor>& inputs, u32 together, u32 alone) {
  const Answer fused = run(graph, inputs, true), unfused = run(graph, inputs, false);
  EXPECT_EQ(fused.dispatches, together);
  EXPECT_EQ(unfused.dispatches, alone);
  expect_close(fused.values, std::vector<f64>(unfused.values.begin(), unfused.values.end()), 1e-6);
}

// Chains of ops over [5, 7], with a column and a number that broadcast.
class Builder : public GraphBuilder {
 public:
  const Shape shape{5, 7};
  const u32 x = input(tensor(DType::f32, shape)), column = input(tensor(DType::f32, {5, 1})),
            one = input(tensor(DType::f32, {}));
  u32 apply(const std::string& name, std::vector<u32> args, DType dtype = DType::f32) {
    args.push_back(tensor(dtype, shape));
    op(name, args);
    return args.back();
  }
  std::vector<Tensor> inputs() const {
    return {floats(shape, noise(35)), floats({5, 1}, noise(5, 2)), floats({}, {0.75f})};
  }
};

TEST(ElementwiseChain, IsOneDispatch) {
  Builder b;
  const u32 sum = b.apply("aten.add.Tensor", {b.x, b.column, b.number(0.5)});
  const u32 exp = b.apply("aten.exp.default", {sum});
  const u32 clamped = b.apply("aten.clamp.default", {exp, b.number(0.25), b.number(2)});
  b.output(b.apply("aten.mul.Tensor", {clamped, b.one}));
  expect_fused(b, b.inputs(), 1, 4);
}

TEST(ElementwiseChain, JoinsBothSidesOfAnOp) {
  Builder b;
  const u32 left = b.apply("aten.sigmoid.default", {b.apply("aten.neg.default", {b.x})});
  const u32 right = b.apply("aten.tanh.default", {b.apply("aten.mul.Tensor", {b.x, b.column})});
  b.output(b.apply("aten.sub.Tensor", {left, right, b.number(1)}));
  expect_fused(b, b.inputs(), 1, 5);
}

// A rectifier with a slope per channel, as exporters spell it.
TEST(ElementwiseChain, TakesConditions) {
  Builder b;
  const u32 positive = b.apply("aten.gt.Scalar", {b.x, b.number(0)}, DType::boolean);
  b.output(b.apply("aten.where.self", {positive, b.x, b.apply("aten.mul.Tensor", {b.column, b.x})}));
  auto inputs = b.inputs();
  inputs[0].as<f32>()[2] = NAN;
  inputs[0].as<f32>()[3] = -INFINITY;
  const Answer fused = run(b, inputs, true);
  EXPECT_EQ(fused.dispatches, 1u);
  ASSERT_EQ(fused.values.size(), 35u);
  EXPECT_TRUE(std::isnan(fused.values[2]));
  for (u32 i = 0; i < 35; ++i) {
    const f32 x = inputs[0].as<f32>()[i], slope = inputs[1].as<f32>()[i / 7];
    if (i != 2) {
      EXPECT_EQ(fused.values[i], x > 0 ? x : slope * x) << "element " << i;
    }
  }
}

TEST(ElementwiseChain, KeepsConditionsThatOthersReadToo) {
  Builder b;
  const u32 large = b.apply("aten.ge.Tensor", {b.x, b.column}, DType::boolean);
  b.output(b.apply("aten.where.self", {large, b.x, b.column}));
  b.output(large);
  expect_fused(b, b.inputs(), 2, 2);
}

TEST(ElementwiseChain, EndsWhereAResultIsReadTwiceOrIsAnOutput) {
  Builder b;
  const u32 twice = b.apply("aten.exp.default", {b.apply("aten.neg.default", {b.x})});
  const u32 product = b.apply("aten.mul.Tensor", {twice, twice});
  const u32 shown = b.apply("aten.relu.default", {b.apply("aten.abs.default", {product})});
  b.output(b.apply("aten.neg.default", {shown}));
  b.output(shown);
  expect_fused(b, b.inputs(), 3, 6);
}

TEST(ElementwiseChain, TakesNoMoreInputsThanAKernelHas) {
  Builder b;
  u32 value = b.x;
  std::vector<Tensor> inputs = b.inputs();
  for (u32 i = 0; i < 6; ++i) {
    value = b.apply("aten.mul.Tensor", {value, b.input(b.tensor(DType::f32, b.shape))});
    inputs.push_back(floats(b.shape, noise(35, 10 + i)));
  }
  b.output(value);
  expect_fused(b, inputs, 2, 6);
}

TEST(ElementwiseChain, KeepsInfiniteBoundsAndNan) {
  Builder b;
  const u32 bounded =
      b.apply("aten.clamp.default", {b.apply("aten.neg.default", {b.x}), b.number(-INFINITY), b.number(1)});
  b.output(b.apply("aten.abs.default", {bounded}));
  auto inputs = b.inputs();
  inputs[0].as<f32>()[3] = NAN;
  inputs[0].as<f32>()[4] = INFINITY;
  const auto values = run(b, inputs, true).values;
  EXPECT_TRUE(std::isnan(values[3]));
  EXPECT_EQ(values[4], INFINITY);
}

}  // namespace
}  // namespace pteron::test
