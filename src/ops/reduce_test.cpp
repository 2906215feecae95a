// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/run_graph.h"

#include <cmath>

namespace pteron::test {
namespace {

struct Reduction {
  std::string op = "aten.sum.dim_IntList";
  DType from = DType::f32, to = DType::f32;
  Shape x{2, 3}, y{2};
  std::vector<i64> axes{1};
  bool keepdim = false;
};

GraphBuilder build(const Reduction& r) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(r.from, r.x)), y = b.tensor(r.to, r.y);
  b.op(r.op, {x, b.ints(r.axes), b.boolean(r.keepdim), y});
  b.output(y);
  return b;
}

// argmax and the like have one axis.
GraphBuilder build_place(DType to, const Shape& x, const Shape& y, i64 axis) {
  GraphBuilder b;
  const u32 in = b.input(b.tensor(DType::f32, x)), out = b.tensor(to, y);
  b.op("aten.argmax.default", {in, b.integer(axis), b.boolean(false), out});
  b.output(out);
  return b;
}

TEST(Reduce, RejectsAxisOutOfRange) {
  EXPECT_NE(load_error(build({.axes = {2}})).find("axis 2 is out of range for rank 2"), std::string::npos);
  EXPECT_NE(load_error(build({.axes = {-3}})).find("axis -3 is out of range for rank 2"), std::string::npos);
}

TEST(Reduce, RejectsAxisNamedTwice) {
  EXPECT_NE(load_error(build({.axes = {1, -1}})).find("axis 1 is named twice"), std::string::npos);
}

TEST(Reduce, RejectsShapeThatTheFileGivesWrong) {
  EXPECT_NE(load_error(build({.y = {3}})).find("the result has shape [2], but the file says [3]"), std::string::npos);
}

TEST(Reduce, RejectsTypesThatDoNotFit) {
  EXPECT_NE(load_error(build({.to = DType::i32})).find("the result is int32, but the input is float32"),
            std::string::npos);
  EXPECT_NE(load_error(build({.op = "aten.mean.dim", .from = DType::i32, .to = DType::i32})).find("a mean is"),
            std::string::npos);
  EXPECT_NE(load_error(build({.op = "aten.any.dims", .to = DType::i32})).find("the result must be bool, not int32"),
            std::string::npos);
}

TEST(Reduce, RejectsExtremeOfNothing) {
  for (const char* op : {"aten.amax.default", "aten.amin.default"})
    EXPECT_NE(load_error(build({.op = op, .x = {2, 0}})).find("[2, 0] have no elements"), std::string::npos);
  EXPECT_NE(load_error(build_place(DType::i32, {2, 0}, {2}, 1)).find("[2, 0] have no elements"), std::string::npos);
}

TEST(Reduce, GivesZeroForTheSumAndNanForTheMeanOfNothing) {
  EXPECT_EQ(GraphRun(build({.x = {2, 0}})).first({floats({2, 0}, {})}), (std::vector<f32>{0, 0}));
  for (f32 v : GraphRun(build({.op = "aten.mean.dim", .x = {2, 0}})).first({floats({2, 0}, {})}))
    EXPECT_TRUE(std::isnan(v));
}

GraphBuilder build_variance(DType mean, const Shape& x) {
  GraphBuilder b;
  const u32 y = b.tensor(DType::f32, {2}), m = b.tensor(mean, {2});
  b.op("aten.var_mean.correction",
       {b.input(b.tensor(DType::f32, x)), b.ints({1}), b.integer(-1), b.boolean(false), b.list({y, m})});
  b.output(y);
  return b;
}

TEST(Variance, OfNothingIsNoNumberWhateverItIsDividedBy) {
  for (f32 v : GraphRun(build_variance(DType::f32, {2, 0})).first({floats({2, 0}, {})})) EXPECT_TRUE(std::isnan(v));
  EXPECT_EQ(GraphRun(build_variance(DType::f32, {2, 2})).first({floats({2, 2}, {1, 4, 0, 6})}),
            (std::vector<f32>{1.5, 6}));
}

TEST(Variance, RefusesAMeanOfIntegers) {
  EXPECT_NE(load_error(build_variance(DType::i32, {2, 3})).find("a mean is floating-point, not int32"),
            std::string::npos);
}

TEST(Reduce, RunsNothingForNoRows) {
  GraphRun run(build({.x = {0, 3}, .y = {0}}));
  EXPECT_TRUE(run.first({floats({0, 3}, {})}).empty());
  EXPECT_EQ(run.method().stats().dispatches, 0u);
}

TEST(Reduce, AddsBytesAndBooleansAsIntegers) {
  EXPECT_EQ(GraphRun(build({.from = DType::i8, .to = DType::i32}))
                .first<i32>({tensor_of<i8>(DType::i8, {2, 3}, {-128, -128, 1, 100, 100, 100})}),
            (std::vector<i32>{-255, 300}));
  EXPECT_EQ(GraphRun(build({.from = DType::boolean, .to = DType::i32}))
                .first<i32>({tensor_of<u8>(DType::boolean, {2, 3}, {1, 0, 1, 1, 1, 1})}),
            (std::vector<i32>{2, 3}));
}

TEST(Reduce, AddsIntegersToAFloat) {
  EXPECT_EQ(GraphRun(build({.from = DType::i32})).first({tensor_of<i32>(DType::i32, {2, 3}, {1, 2, 3, 4, 5, 6})}),
            (std::vector<f32>{6, 15}));
}

TEST(Reduce, ReducesEverySecondOfEightAxes) {
  const Shape x{2, 2, 2, 2, 2, 2, 2, 2}, y{1, 2, 1, 2, 1, 2, 1, 2};
  std::vector<f32> values(256), expected(16);
  for (u32 i = 0; i < 256; ++i) {
    values[i] = f32(i);
    expected[(i >> 6 & 1) * 8 + (i >> 4 & 1) * 4 + (i >> 2 & 1) * 2 + (i & 1)] += f32(i);
  }
  for (const auto type : {gpu::AdapterType::cpu, gpu::AdapterType::discrete})
    EXPECT_EQ(GraphRun(build({.x = x, .y = y, .axes = {0, 2, 4, 6}, .keepdim = true}), device_of_type(type))
                  .first({floats(x, values)}),
              expected);
}

TEST(Reduce, OverwritesItsOwnInput) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2, 1}));
  b.op("aten.sum.dim_IntList", {x, b.ints({1}), b.boolean(true), x});
  b.output(x);
  EXPECT_EQ(GraphRun(b).first({floats({2, 1}, {3, 4})}), (std::vector<f32>{3, 4}));
}

TEST(ArgReduce, RejectsResultThatIsNoInteger) {
  EXPECT_NE(load_error(build_place(DType::f32, {2, 3}, {2}, 1)).find("indices are integers, but the result is float32"),
            std::string::npos);
}

TEST(ArgReduce, RejectsAxisOutOfRange) {
  EXPECT_NE(load_error(build_place(DType::i32, {2, 3}, {2}, 2)).find("axis 2 is out of range"), std::string::npos);
}

TEST(ArgReduce, FindsTheFirstOfManyEqualInALongRow) {
  std::vector<f32> x(5000, 1);
  x[4321] = x[4600] = 2;
  EXPECT_EQ(GraphRun(build_place(DType::i32, {1, 5000}, {1}, 1), device_of_type(gpu::AdapterType::discrete))
                .first<i32>({floats({1, 5000}, x)})[0],
            4321);
}

}  // namespace
}  // namespace pteron::test
