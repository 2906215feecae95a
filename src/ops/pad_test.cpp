// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/run_graph.h"

namespace pteron::test {
namespace {

GraphBuilder pad(const std::string& op, const Shape& x, const Shape& y, const std::vector<i64>& margins) {
  GraphBuilder b;
  const u32 in = b.input(b.tensor(DType::f32, x)), out = b.tensor(DType::f32, y);
  b.op(op, {in, b.ints(margins), out});
  b.output(out);
  return b;
}

TEST(Margins, RejectWhatCanNotBeMirrored) {
  const auto error = [](const std::string& op, const Shape& x, const std::vector<i64>& margins) {
    return load_error(pad(op, x, {1, 9}, margins));
  };
  EXPECT_NE(error("aten.reflection_pad1d.default", {1, 3}, {3, 0}).find("margins of 3 mirror more than axis 1"),
            std::string::npos);
  EXPECT_NE(error("aten.reflection_pad1d.default", {1, 3}, {1}).find("1 margins are given; 2 are expected"),
            std::string::npos);
  EXPECT_NE(error("aten.replication_pad1d.default", {1, 0}, {1, 1}).find("has no element"), std::string::npos);
  EXPECT_NE(error("aten.replication_pad2d.default", {1, 3}, {1, 1}).find("4 are expected"), std::string::npos);
}

// Goldens: torch.nn.functional.pad(torch.tensor([[1., 2., 3.]]), (2, 1), mode).
TEST(Margins, RepeatTheInput) {
  const Tensor x = floats({1, 3}, {1, 2, 3});
  EXPECT_EQ(GraphRun(pad("aten.reflection_pad1d.default", {1, 3}, {1, 6}, {2, 1})).first({x}),
            (std::vector<f32>{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(GraphRun(pad("aten.replication_pad1d.default", {1, 3}, {1, 6}, {2, 1})).first({x}),
            (std::vector<f32>{1, 1, 1, 2, 3, 3}));
}

TEST(Roll, RejectsShiftsWithoutAxes) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {3, 3})), y = b.tensor(DType::f32, {3, 3});
  b.op("aten.roll.default", {x, b.ints({1, 2}), b.ints({0}), y});
  b.output(y);
  EXPECT_NE(load_error(b).find("2 shifts are given for 1 axes"), std::string::npos);
}

}  // namespace
}  // namespace pteron::test
