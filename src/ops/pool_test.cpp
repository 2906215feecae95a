// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/run_graph.h"

namespace pteron::test {
namespace {

struct Pool {
  Shape x{1, 4, 4}, y{1, 2, 2};
  std::vector<i64> kernel{2}, stride{}, padding{0}, dilation{1};
  bool ceil = false, dynamic = false;
  DType dtype = DType::f32;
};

GraphBuilder max_pool(const Pool& o) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(o.dtype, o.x), o.dynamic), y = b.tensor(o.dtype, o.y);
  b.op("aten.max_pool2d.default",
       {x, b.ints(o.kernel), b.ints(o.stride), b.ints(o.padding), b.ints(o.dilation), b.boolean(o.ceil), y});
  b.output(y, o.dynamic);
  return b;
}

GraphBuilder avg_pool(const Pool& o, std::optional<i64> divisor = {}) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(o.dtype, o.x), o.dynamic), y = b.tensor(o.dtype, o.y);
  b.op("aten.avg_pool2d.default", {x, b.ints(o.kernel), b.ints(o.stride), b.ints(o.padding), b.boolean(o.ceil),
                                   b.boolean(false), divisor ? b.integer(*divisor) : b.null(), y});
  b.output(y, o.dynamic);
  return b;
}

void expect_refusal(const Pool& pool, const std::string& message) {
  for (const auto& graph : {max_pool(pool), avg_pool(pool)})
    EXPECT_NE(load_error(graph).find(message), std::string::npos) << load_error(graph);
}

TEST(Pool, RejectsArgumentsThatMakeNoWindow) {
  expect_refusal({.kernel = {}}, "the kernel is 0; it must be at least 1");
  expect_refusal({.kernel = {2, 0}}, "the kernel is 0");
  expect_refusal({.kernel = {2, 2, 2}}, "the kernel has 3 numbers; 1 or 2 are expected");
  expect_refusal({.stride = {0}}, "the stride is 0; it must be at least 1");
  expect_refusal({.padding = {-1}}, "the padding is -1; it must be at least 0");
  expect_refusal({.padding = {2}}, "a padding of 2 is more than half of the kernel, which spans 2");
  expect_refusal({.kernel = {5}}, "a window of 5 doesn't fit axis 1 of [1, 4, 4] with padding 0");
}

TEST(Pool, RejectsTensorsThatAreNoImages) {
  expect_refusal({.x = {4, 4}, .y = {2, 2}}, "not [4, 4]");
  expect_refusal({.dtype = DType::i32}, "not int32");
}

TEST(Pool, RejectsWindowsBeyondAllImages) {
  EXPECT_NE(load_error(max_pool({.kernel = {1 << 4}, .dilation = {1 << 28}})).find("spans too much"),
            std::string::npos);
}

TEST(Pool, RejectsDilationOfZero) {
  EXPECT_NE(load_error(max_pool({.dilation = {0}})).find("the dilation is 0"), std::string::npos);
}

TEST(Pool, RejectsDivisorOfZero) { EXPECT_NE(load_error(avg_pool({}, 0)).find("the divisor is 0"), std::string::npos); }

// llvmpipe ends the loops of a thread after 65,535 rounds. Averages are taken axis by axis there.
TEST(Pool, TakesWindowsThatSoftwareAdaptersWouldCutShort) {
  const Pool pool{.x = {1, 300, 300}, .y = {1, 1, 1}, .kernel = {300}};
  const Device software = device_of_type(gpu::AdapterType::cpu);
  EXPECT_NE(GraphRun(max_pool(pool), software).error().find("a window of 1 x 300 x 300 elements is too large"),
            std::string::npos);
  EXPECT_EQ(GraphRun(max_pool(pool), device_of_type(gpu::AdapterType::discrete)).error(), "");
  std::vector<f32> x(pool.x.numel(), 0);
  x[0] = x[x.size() - 300] = x.back() = 30000;
  for (const auto type : {gpu::AdapterType::cpu, gpu::AdapterType::discrete})
    EXPECT_EQ(GraphRun(avg_pool(pool), device_of_type(type)).first({floats({1, 300, 300}, x)}), (std::vector<f32>{1}));
}

// What counts is how much of the input a window has.
TEST(Pool, TakesKernelsLargerThanTheInput) {
  const Pool pool{.x = {1, 2, 3}, .y = {1, 1, 1}, .kernel = {640}, .stride = {640}, .padding = {320}};
  const Device software = device_of_type(gpu::AdapterType::cpu);
  const Tensor x = floats({1, 2, 3}, {1, 2, 3, 4, 5, 9});
  EXPECT_EQ(GraphRun(avg_pool(pool), software).first({x}), (std::vector<f32>{4}));
  EXPECT_EQ(GraphRun(max_pool(pool), software).first({x}), (std::vector<f32>{9}));
}

// Goldens: torch.nn.functional.max_pool2d(torch.arange(h * w).view(1, h, w), 3, 2, 1, ceil_mode=True), and avg_pool2d
// with count_include_pad=False.
TEST(Pool, RoundsLiveSizesUpAndDropsWindowsInThePadding) {
  const Pool pool{
      .x = {1, 6, 5}, .y = {1, 4, 3}, .kernel = {3}, .stride = {2}, .padding = {1}, .ceil = true, .dynamic = true};
  GraphRun largest(max_pool(pool)), mean(avg_pool(pool));
  const auto ramp = [](u32 count) {
    std::vector<f32> x(count);
    for (u32 i = 0; i < count; ++i) x[i] = f32(i);
    return x;
  };
  EXPECT_EQ(largest.first({floats({1, 6, 5}, ramp(30))}),
            (std::vector<f32>{6, 8, 9, 16, 18, 19, 26, 28, 29, 26, 28, 29}));
  EXPECT_EQ(largest.first({floats({1, 3, 4}, ramp(12))}), (std::vector<f32>{5, 7, 7, 9, 11, 11}));
  EXPECT_EQ(largest.first({floats({1, 1, 1}, ramp(1))}), (std::vector<f32>{0}));
  EXPECT_EQ(mean.first({floats({1, 3, 4}, ramp(12))}), (std::vector<f32>{2.5, 4, 5, 6.5, 8, 9}));
  EXPECT_EQ(mean.first({floats({1, 6, 5}, ramp(30))}),
            (std::vector<f32>{3, 4.5, 6, 10.5, 12, 13.5, 20.5, 22, 23.5, 25.5, 27, 28.5}));
  EXPECT_EQ(largest.method().stats().late_pipelines + mean.method().stats().late_pipelines, 0u);
}

TEST(Pool, RejectsLiveSizesSmallerThanTheWindow) {
  GraphRun run(max_pool({.kernel = {3}, .stride = {1}, .dynamic = true}));
  EXPECT_TRUE(run({floats({1, 2, 4}, std::vector<f32>(8))}).empty());
  EXPECT_NE(run.error().find("a window of 3 doesn't fit axis 1 of [1, 2, 4]"), std::string::npos) << run.error();
  EXPECT_EQ(run.first({floats({1, 3, 3}, {1, 2, 3, 4, 9, 6, 7, 8, 5})}), (std::vector<f32>{9}));
}

TEST(Pool, MakesNoWindowsOfALiveShape) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {3, 3}), true), y = b.tensor(DType::f32, {3, 1});
  b.op("aten.adaptive_avg_pool1d.default", {x, b.ints({0}), y});
  b.output(y, true);
  GraphRun run(b);
  const auto outputs = run({floats({2, 3}, std::vector<f32>(6, 1))});
  ASSERT_EQ(run.error(), "");
  EXPECT_TRUE(outputs[0].shape() == (Shape{2, 0}));
}

TEST(Pool, RunsNothingForNoBatch) {
  GraphRun run(max_pool({.x = {0, 1, 4, 4}, .y = {0, 1, 2, 2}}));
  EXPECT_TRUE(run.first({floats({0, 1, 4, 4}, {})}).empty());
  EXPECT_EQ(run.method().stats().dispatches, 0u);
}

}  // namespace
}  // namespace pteron::test
