// SPDX-License-Identifier: BSD-3-Clause
// Conversations that share a submit, of graphs whose ops write what others read. Expected values are worked out by
// hand.
#include "gpu/one_op.h"

namespace pteron::test {
namespace {

using Floats = std::vector<f32>;

// Steps of three lanes, each with an input of its own.
class Lanes {
 public:
  explicit Lanes(const GraphBuilder& graph) {
    Program program = load(graph).value();
    for (u32 i = 0; i < count; ++i) methods_.push_back(program.method().value());
    batch_.emplace(program.batch().value());
  }

  // Lane i gets 10 i + 1; what each lane gives.
  std::vector<Floats> step() {
    std::vector<Floats> out;
    std::vector<Tensor> inputs;
    inputs.reserve(count);
    for (u32 i = 0; i < count; ++i) inputs.push_back(tensor_of<f32>(DType::f32, {1}, {f32(10 * i + 1)}));
    const std::vector<TensorView> views(inputs.begin(), inputs.end());
    std::vector<Batch::Lane> lanes;
    lanes.reserve(count);
    for (u32 i = 0; i < count; ++i) lanes.push_back({&methods_[i], std::span(&views[i], 1)});
    const Status begun = batch_->begin(lanes);
    if (!begun) return ADD_FAILURE() << begun.error().to_string(), out;
    const auto done = batch_->finish();
    if (!done) return ADD_FAILURE() << done.error().to_string(), out;
    for (u32 i = 0; i < count; ++i) {
      EXPECT_TRUE(lanes[i].status.has_value()) << lanes[i].status.error().to_string();
      out.emplace_back();
      for (const Tensor& t : methods_[i].outputs()) out.back().push_back(t.as<f32>()[0]);
    }
    return out;
  }

 private:
  static constexpr u32 count = 3;
  std::vector<Method> methods_;
  std::optional<Batch> batch_;
};

struct Draft {
  GraphBuilder b;
  u32 x = b.input(tensor());

  u32 tensor() { return b.tensor(DType::f32, {1}); }
  u32 constant(f32 value) { return b.constant<f32>(DType::f32, {1}, {value}); }
  void neg(u32 from, u32 to) { b.op("aten.neg.default", {from, to}); }
  void add(u32 a, u32 c, u32 to) { b.op("aten.add.Tensor", {a, c, b.integer(1), to}); }
};

TEST(BatchEffects, WhatALaneAddsToIsItsOwnAlsoIfItWasMadeOfConstants) {
  Draft d;
  const u32 y = d.tensor();
  d.neg(d.constant(5), y);
  d.add(y, d.x, y);
  d.b.output(y);
  Lanes lanes(d.b);
  for (u32 i = 0; i < 2; ++i) EXPECT_EQ(lanes.step(), (std::vector<Floats>{{-4}, {6}, {16}}));
}

TEST(BatchEffects, AStateThatIsSetToAConstantIsSetInEachLane) {
  Draft d;
  const u32 state = d.constant(7), y = d.tensor();
  d.add(state, d.x, y);
  d.neg(d.constant(5), state);
  d.b.output(y);
  Lanes lanes(d.b);
  EXPECT_EQ(lanes.step(), (std::vector<Floats>{{8}, {18}, {28}}));
  EXPECT_EQ(lanes.step(), (std::vector<Floats>{{-4}, {6}, {16}}));
}

TEST(BatchEffects, AnInputThatIsSetToAConstantIsSetInEachLane) {
  Draft d;
  const u32 before = d.tensor(), after = d.tensor();
  d.add(d.x, d.x, before);
  d.neg(d.constant(5), d.x);
  d.add(d.x, before, after);
  d.b.output(before);
  d.b.output(after);
  Lanes lanes(d.b);
  EXPECT_EQ(lanes.step(), (std::vector<Floats>{{2, -3}, {22, 17}, {42, 37}}));
}

TEST(BatchEffects, WhatIsReadBeforeItDependsOnALaneIsTheSameForAll) {
  Draft d;
  const u32 a = d.tensor(), y = d.tensor(), z = d.tensor();
  d.neg(d.constant(5), a);
  d.add(a, a, y);
  d.add(a, d.x, a);
  d.add(a, y, z);
  d.b.output(y);
  d.b.output(z);
  Lanes lanes(d.b);
  for (u32 i = 0; i < 2; ++i) EXPECT_EQ(lanes.step(), (std::vector<Floats>{{-10, -14}, {-10, -4}, {-10, 6}}));
}

TEST(BatchEffects, ANumberWithAFractionIsThereForEachLane) {
  Draft d;
  const u32 size = d.b.symint(), half = d.b.symint(), t = d.tensor(), y = d.tensor();
  d.b.op("sym_size.int", {d.x, d.b.integer(0), size});
  d.b.op("truediv", {size, d.b.integer(2), half});
  d.b.op("aten.full.default", {d.b.ints({1}), half, d.b.null(), d.b.null(), d.b.null(), d.b.null(), t});
  d.add(t, d.x, y);
  d.b.output(y);
  EXPECT_EQ(Lanes(d.b).step(), (std::vector<Floats>{{1.5f}, {11.5f}, {21.5f}}));
}

TEST(BatchEffects, WhatFollowsFromShapesAloneHasTheShapesOfTheStep) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4}), true), size = b.symint(), t = b.tensor(DType::f32, {4}),
            y = b.tensor(DType::f32, {4});
  b.op("sym_size.int", {x, b.integer(0), size});
  b.op("aten.full.default", {b.list({size}), b.integer(2), b.null(), b.null(), b.null(), b.null(), t});
  b.op("aten.add.Tensor", {t, x, b.integer(1), y});
  b.output(y, true);
  b.output(t, true);
  EXPECT_EQ(Lanes(b).step(), (std::vector<Floats>{{3, 2}, {13, 2}, {23, 2}}));
}

TEST(BatchEffects, AStateThatALaneCountsInCanBeSetToAConstant) {
  Draft d;
  const u32 state = d.constant(7), y = d.tensor();
  d.add(state, d.x, state);
  d.add(state, d.x, y);
  d.neg(d.constant(5), state);
  d.b.output(y);
  Lanes lanes(d.b);
  EXPECT_EQ(lanes.step(), (std::vector<Floats>{{9}, {29}, {49}}));
  EXPECT_EQ(lanes.step(), (std::vector<Floats>{{-3}, {17}, {37}}));
}

}  // namespace
}  // namespace pteron::test
