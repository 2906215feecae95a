// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/run_graph.h"

#include <limits>

namespace pteron::test {
namespace {

GraphBuilder distances(const Shape& a, const Shape& b, const Shape& y, f64 power) {
  GraphBuilder graph;
  const u32 first = graph.input(graph.tensor(DType::f32, a)), second = graph.input(graph.tensor(DType::f32, b)),
            out = graph.tensor(DType::f32, y);
  graph.op("aten._cdist_forward.default", {first, second, graph.number(power), graph.null(), out});
  graph.output(out);
  return graph;
}

TEST(Distances, RejectsRowsThatDoNotFit) {
  EXPECT_NE(load_error(distances({2, 3}, {2, 4}, {2, 2}, 2)).find("have different lengths"), std::string::npos);
  EXPECT_NE(load_error(distances({2, 2, 3}, {3, 2, 3}, {2, 2, 2}, 2)).find("the batches"), std::string::npos);
  EXPECT_NE(load_error(distances({3}, {3}, {}, 2)).find("two tensors of rows"), std::string::npos);
  EXPECT_NE(load_error(distances({2, 3}, {2, 3}, {2, 2}, -1)).find("the power is -1"), std::string::npos);
}

// Goldens: torch.cdist(a, b, float("inf")), which no exporter can write into a file.
TEST(Distances, TakesTheLargestDifference) {
  GraphRun run(distances({2, 2}, {3, 2}, {2, 3}, std::numeric_limits<f64>::infinity()));
  EXPECT_EQ(run.first({floats({2, 2}, {0, 3, 1, 1}), floats({3, 2}, {4, 0, 1, 1, -2, 3})}),
            (std::vector<f32>{4, 2, 2, 3, 0, 3}));
}

}  // namespace
}  // namespace pteron::test
