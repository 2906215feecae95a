// SPDX-License-Identifier: BSD-3-Clause
// What is planned when, without a GPU.
#include "graph/planner.h"

#include "graph/pass.h"
#include "support/builder.h"

#include <gtest/gtest.h>

namespace pteron::graph {
namespace {

using test::GraphBuilder;

// A compiled graph with a planner that nobody submits for.
class Planned {
 public:
  explicit Planned(const GraphBuilder& b)
      : blob_(b.blob()), compiled_(compile_it()), arena_(compiled_->memory.arena), planner_(*compiled_, arena_) {}

  Status plan(const std::vector<HostInput>& inputs) {
    TRY_DO(check_inputs(*compiled_, inputs));
    return planner_.plan(inputs);
  }
  Planner& operator*() { return planner_; }
  Planner* operator->() { return &planner_; }
  const Shape& output_shape() const { return planner_.live().shape[compiled_->graph.outputs[0]]; }
  u32 dispatches() const {
    u32 sum = 0;
    for (u32 op = 0; op < compiled_->ops.size(); ++op) sum += u32(planner_.dispatches(op).size());
    return sum;
  }

 private:
  std::shared_ptr<const CompiledGraph> compile_it() const {
    const auto header = format::read_delegate_header(blob_);
    const auto parsed = format::read_delegate_graph(blob_, *header);
    auto graph = build_graph(*parsed, {0, {0, blob_.size()}}, {});
    EXPECT_TRUE(graph.has_value()) << graph.error().to_string();
    CompileOptions options;
    for (const Pass* pass : all_passes()) options.disabled_passes.emplace_back(pass->name);
    auto compiled = compile(*std::move(graph), {}, options);
    EXPECT_TRUE(compiled.has_value()) << compiled.error().to_string();
    return *compiled;
  }

  std::vector<std::byte> blob_;
  std::shared_ptr<const CompiledGraph> compiled_;
  Arena arena_;
  Planner planner_;
};

const std::vector<f32>& zeros() {
  static const std::vector<f32> all(16, 0);
  return all;
}

HostInput rows(u32 count) {
  return {DType::f32, Shape{count, 2}, std::as_bytes(std::span(zeros())).first(size_t(count) * 2 * sizeof(f32)), {}};
}
HostInput number(const i64& value) { return {DType::i64, Shape{1}, std::as_bytes(std::span(&value, 1)), {}}; }

// relu of up to 8 rows; then, if it is to fail for others, plus a table of 8.
GraphBuilder some_rows(bool plus_table) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {8, 2}), true), y = b.tensor(DType::f32, {8, 2});
  b.op("aten.relu.default", {x, y});
  u32 result = y;
  if (plus_table) {
    const u32 table = b.constant<f32>(DType::f32, {8, 2}, zeros());
    result = b.tensor(DType::f32, {8, 2});
    b.op("aten.add.Tensor", {y, table, b.integer(1), result});
  }
  b.output(result, true);
  return b;
}

// Writes a position of a cache of 1000.
GraphBuilder cached() {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, 1, 1, 4}));
  const u32 position = b.input(b.tensor(DType::i32, {1}), false, DType::i64), start = b.symint();
  const u32 cache = b.constant<f32>(DType::f32, {1, 1000, 1, 4}, std::vector<f32>(4000, 0));
  b.op("et_vk.select_as_symint.default", {position, b.integer(0), b.integer(0), start});
  b.op("update_cache.default", {x, cache, start, b.tensor(DType::f32, {1})});
  const u32 y = b.tensor(DType::f32, {1, 1, 1, 4});
  b.op("aten.relu.default", {x, y});
  b.output(y);
  return b;
}
HostInput four() { return {DType::f32, Shape{1, 1, 1, 4}, std::as_bytes(std::span(zeros())).first(16), {}}; }

TEST(Planner, PlansAgainOnlyWhatChanged) {
  Planned planner(some_rows(false));
  ASSERT_TRUE(planner.plan({rows(8)}).has_value());
  planner->accept();
  EXPECT_EQ(planner.dispatches(), 1u);
  const u64 version = planner->version();
  ASSERT_TRUE(planner.plan({rows(8)}).has_value());
  planner->accept();
  EXPECT_EQ(planner->replanned(), 0u);
  EXPECT_EQ(planner->version(), version);
  ASSERT_TRUE(planner.plan({rows(3)}).has_value());
  EXPECT_EQ(planner->replanned(), 1u);
  EXPECT_EQ(planner.output_shape(), (Shape{3, 2}));
}

TEST(Planner, AFailureLeavesEverythingAsItWas) {
  Planned planner(some_rows(true));
  ASSERT_TRUE(planner.plan({rows(8)}).has_value());
  planner->accept();
  const auto failed = planner.plan({rows(3)});
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(planner.output_shape(), (Shape{8, 2}));
  ASSERT_TRUE(planner.plan({rows(8)}).has_value());
  EXPECT_GE(planner->replanned(), 1u);  // what was planned for 3 rows
  EXPECT_EQ(planner.dispatches(), 2u);
}

TEST(Planner, AStepThatDoesNotRunIsTakenBack) {
  Planned planner(some_rows(false));
  ASSERT_TRUE(planner.plan({rows(8)}).has_value());
  planner->accept();
  ASSERT_TRUE(planner.plan({rows(2)}).has_value());
  planner->roll_back();
  EXPECT_EQ(planner.output_shape(), (Shape{8, 2}));
  ASSERT_TRUE(planner.plan({rows(2)}).has_value());
  EXPECT_EQ(planner->replanned(), 1u);
}

TEST(Planner, ForeseesThatAPositionGoesOnAsItWent) {
  Planned planner(cached());
  for (const i64 position : {10, 11}) {
    ASSERT_TRUE(planner.plan({four(), number(position)}).has_value());
    planner->accept();
  }
  planner->foresee();
  EXPECT_TRUE(planner->has_foreseen());
  EXPECT_EQ(planner->positions()[0], 13u);
  const i64 next = 12;
  ASSERT_TRUE(planner.plan({four(), number(next)}).has_value());
  planner->accept();
  EXPECT_EQ(planner->positions()[0], 13u);
  planner->foresee();
  const i64 elsewhere = 500;
  ASSERT_TRUE(planner.plan({four(), number(elsewhere)}).has_value());
  planner->accept();
  EXPECT_EQ(planner->positions()[0], 501u);
}

TEST(Planner, SaysWhichPositionsAStepUsesAlsoIfNothingIsPlannedAgain) {
  Planned planner(cached());
  const i64 far = 700;
  ASSERT_TRUE(planner.plan({four(), number(far)}).has_value());
  planner->accept();
  EXPECT_EQ(planner->positions()[0], 701u);
  ASSERT_TRUE(planner.plan({four(), number(far)}).has_value());
  EXPECT_EQ(planner->positions()[0], 701u);
}

}  // namespace
}  // namespace pteron::graph
