// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/run_graph.h"

#include <cmath>

namespace pteron::test {
namespace {

GraphBuilder build(const std::string& op, DType dtype, const Shape& shape, i64 axis) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(dtype, shape)), y = b.tensor(dtype, shape);
  b.op(op, {x, b.integer(axis), b.boolean(false), y});
  b.output(y);
  return b;
}

TEST(Softmax, HandlesMoreRowsThanAGridHasWorkgroups) {
  constexpr u32 rows = 70001;
  std::vector<f32> x;
  for (u32 row = 0; row < rows; ++row) x.insert(x.end(), {0, f32(row % 5), 1});
  const auto y = GraphRun(build("aten._log_softmax.default", DType::f32, {rows, 3}, 1)).first({floats({rows, 3}, x)});
  ASSERT_EQ(y.size(), x.size());
  for (size_t row = 0; row < rows; ++row) {
    const f64 number = f64(row % 5), log_sum = std::log(1 + std::exp(number) + std::exp(1.0));
    ASSERT_NEAR(y[3 * row], -log_sum, 1e-6) << "row " << row;
    ASSERT_NEAR(y[3 * row + 1], number - log_sum, 1e-6) << "row " << row;
  }
}

TEST(Softmax, RunsNothingForNoElements) {
  for (i64 axis : {0, 1}) {
    GraphRun run(build("aten._softmax.default", DType::f32, {0, 3}, axis));
    EXPECT_TRUE(run.first({floats({0, 3}, {})}).empty());
    EXPECT_EQ(run.method().stats().dispatches, 0u);
  }
}

TEST(Softmax, RejectsIntegers) {
  EXPECT_NE(load_error(build("aten._softmax.default", DType::i32, {2, 3}, 1)).find("not int32"), std::string::npos);
}

TEST(Softmax, RejectsAxisOutOfRange) {
  EXPECT_NE(load_error(build("aten._log_softmax.default", DType::f32, {2, 3}, 2)).find("axis 2 is out of range"),
            std::string::npos);
}

}  // namespace
}  // namespace pteron::test
