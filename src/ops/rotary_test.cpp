// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/run_graph.h"

namespace pteron::test {
namespace {

GraphBuilder interleaved(const Shape& x, const Shape& angles, DType dtype = DType::f32, bool dynamic = false) {
  GraphBuilder b;
  const u32 in = b.input(b.tensor(dtype, x), dynamic), turns = b.input(b.tensor(DType::f32, angles), dynamic),
            y = b.tensor(dtype, x);
  b.op("et_vk.apply_rotary_emb_interleaved.default", {in, turns, y});
  b.output(y, dynamic);
  return b;
}

TEST(RotaryInterleaved, RejectsAnglesThatDoNotFit) {
  EXPECT_NE(load_error(interleaved({1, 3, 4}, {3, 2})).find("angles [3, 2] should have 4 elements for each of 3"),
            std::string::npos);
  EXPECT_NE(load_error(interleaved({1, 3, 5}, {3, 5})).find("an even number"), std::string::npos);
  EXPECT_NE(load_error(interleaved({1, 3, 4}, {3, 4}, DType::i32)).find("not int32"), std::string::npos);
}

TEST(RotaryInterleaved, RejectsLiveAnglesOfOtherPositions) {
  GraphRun run(interleaved({1, 3, 2}, {3, 2}, DType::f32, true));
  EXPECT_TRUE(run({floats({1, 2, 2}, {1, 2, 3, 4}), floats({3, 2}, {1, 0, 1, 0, 1, 0})}).empty());
  EXPECT_NE(run.error().find("angles [3, 2] should have 2 elements for each of 2 positions"), std::string::npos);
  EXPECT_EQ(run.first({floats({1, 2, 2}, {1, 2, 3, 4}), floats({2, 2}, {0, 1, 1, 0})}),
            (std::vector<f32>{-2, 1, 3, 4}));
}

TEST(RotaryInterleaved, RunsNothingForNoBatch) {
  EXPECT_TRUE(GraphRun(interleaved({0, 3, 2}, {3, 2}))
                  .first({floats({0, 3, 2}, {}), floats({3, 2}, {1, 0, 1, 0, 1, 0})})
                  .empty());
}

}  // namespace
}  // namespace pteron::test
