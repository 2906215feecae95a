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

GraphBuilder turned(const Shape& q, const Shape& k, const Shape& tables, i64 start) {
  GraphBuilder b;
  const u32 in_q = b.input(b.tensor(DType::f32, q)), in_k = b.input(b.tensor(DType::f32, k)),
            cosines = b.input(b.tensor(DType::f32, tables)), sines = b.input(b.tensor(DType::f32, tables)),
            out_q = b.tensor(DType::f32, q), out_k = b.tensor(DType::f32, k);
  b.op("et_vk.apply_rotary_emb_hf.default", {in_q, in_k, cosines, sines, b.integer(start), b.list({out_q, out_k})});
  b.output(out_q);
  return b;
}

TEST(RotaryHalves, RejectsTablesThatDoNotFit) {
  const auto error = [](const Shape& q, const Shape& tables, i64 start) {
    return load_error(turned(q, q, tables, start));
  };
  EXPECT_NE(error({2, 4, 3, 6}, {3, 3, 6}, 0).find("tables [3, 3, 6] don't fit"), std::string::npos);
  EXPECT_NE(error({1, 4, 3, 6}, {1, 5, 6}, 0).find("tables [1, 5, 6] don't fit"), std::string::npos);
  EXPECT_NE(error({1, 4, 3, 6}, {1, 3, 6}, 1).find("from 0 on, not from 1"), std::string::npos);
  EXPECT_NE(error({2, 1, 3, 6}, {2, 3, 6}, 0).find("only 1 batches would be taken"), std::string::npos);
  EXPECT_NE(error({1, 4, 3, 6}, {1, 1, 4, 6}, 0).find("two or three axes"), std::string::npos);
  EXPECT_NE(error({4, 3, 6}, {4, 6}, 0).find("a tensor of rank 4"), std::string::npos);
  EXPECT_NE(error({1, 4, 3, 6}, {5, 6}, 2).find("positions 2 to 6 exceed the 5 rows"), std::string::npos);
}

}  // namespace
}  // namespace pteron::test
