// SPDX-License-Identifier: BSD-3-Clause
// Steps are planned ahead for a position that is guessed. Whatever comes then, the answer is its own.
#include "gpu/run_graph.h"

#include <numeric>

namespace pteron::test {
namespace {

constexpr u32 rows = 40;

std::vector<f32> first_rows(i64 count) {
  std::vector<f32> out(u64(count), 0);
  std::iota(out.begin(), out.end(), f32(1));
  return out;
}
f32 sum_of_rows(i64 count) {
  const i64 sum = count * (count + 1) / 2;
  return f32(sum);
}

// Outputs: optionally table[:position], whose shape follows the position, and its sum, whose shape does not.
GraphBuilder prefix_of_table(bool gives_rows) {
  GraphBuilder b;
  const u32 position = b.input(b.tensor(DType::i32, {1}), false, DType::i64);
  const u32 table = b.constant<f32>(DType::f32, {rows}, first_rows(rows)), prefix = b.tensor(DType::f32, {rows});
  const u32 sum = b.tensor(DType::f32, {1}), end = b.symint();
  b.op("et_vk.select_as_symint.default", {position, b.integer(0), b.integer(0), end});
  b.op("aten.slice_copy.Tensor", {table, b.integer(0), b.integer(0), end, b.integer(1), prefix});
  b.op("aten.sum.dim_IntList", {prefix, b.ints({0}), b.boolean(true), sum});
  b.output(sum);
  if (gives_rows) b.output(prefix, true);
  return b;
}

Tensor at(i64 position) { return tensor_of<i64>(DType::i64, {1}, {position}); }

// Steady, jumping, going back, standing still, and with another stride.
constexpr i64 positions[] = {1, 2, 3, 4, 5, 9, 10, 11, 3, 3, 3, 2, 1, 4, 7, 10, 13, 40, 39, 38, 37, 1, 40};

TEST(Foresight, ShapesWithinAStepAreThoseOfItsOwnPosition) {
  GraphRun run(prefix_of_table(false));
  for (const i64 position : positions) EXPECT_EQ(run.first({at(position)}), std::vector{sum_of_rows(position)});
  EXPECT_EQ(run.method().stats().late_pipelines, 0u);
}

TEST(Foresight, OutputsKeepTheShapeOfTheirStep) {
  GraphRun run(prefix_of_table(true));
  for (const i64 position : positions) {
    const auto outputs = run({at(position)});
    ASSERT_EQ(outputs.size(), 2u) << run.error();
    EXPECT_EQ(outputs[0].as<f32>()[0], sum_of_rows(position));
    EXPECT_EQ(outputs[1].shape(), Shape{u32(position)});
    EXPECT_TRUE(std::ranges::equal(outputs[1].as<f32>(), first_rows(position)));
  }
}

// One to four bytes are copied as one word: to the GPU these steps are the same.
TEST(Foresight, OutputsKeepTheShapeOfTheirStepAlsoInTheSameMemory) {
  GraphBuilder b;
  const u32 position = b.input(b.tensor(DType::i32, {1}), false, DType::i64);
  const u32 table = b.constant<u8>(DType::u8, {4}, {5, 6, 7, 8}), prefix = b.tensor(DType::u8, {4});
  const u32 end = b.symint();
  b.op("et_vk.select_as_symint.default", {position, b.integer(0), b.integer(0), end});
  b.op("aten.slice_copy.Tensor", {table, b.integer(0), b.integer(0), end, b.integer(1), prefix});
  b.output(prefix, true);
  GraphRun run(b);
  for (const i64 count : {1, 2, 3, 4, 3, 2, 1, 1, 2, 3, 4}) {
    const auto outputs = run({at(count)});
    ASSERT_EQ(outputs.size(), 1u) << run.error();
    EXPECT_EQ(outputs[0].shape(), Shape{u32(count)});
    EXPECT_EQ(outputs[0].as<u8>().back(), 4 + count);
  }
}

TEST(Foresight, AnExpectedStepThatIsRefusedLeavesNoTrace) {
  GraphRun run(prefix_of_table(false));
  for (i64 position = 36; position <= 40; ++position) run.first({at(position)});
  run({tensor_of<f32>(DType::f32, {1}, {41})});  // no integer
  EXPECT_NE(run.error(), "");
  EXPECT_EQ(run.first({at(2)}), std::vector{sum_of_rows(2)});
}

}  // namespace
}  // namespace pteron::test
