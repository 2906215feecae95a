// SPDX-License-Identifier: BSD-3-Clause
// Row reductions on both of their routes, whatever the adapter at hand would choose.
#include "ops/rows.h"

#include "gpu/run_graph.h"
#include "support/fixture.h"

#include <cmath>

namespace pteron::test {
namespace {

using gpu::AdapterType;

constexpr ops::RowWork sum{.reductions = 1}, norm{.reductions = 2, .writes = 1};

gpu::DeviceInfo info_of(AdapterType type) {
  gpu::DeviceInfo info;
  info.adapter.type = type;
  return info;
}

TEST(RowRouting, SoftwareAdaptersAvoidBarriers) {
  const auto cpu = info_of(AdapterType::cpu);
  for (u64 rows : {1, 100, 100000})
    for (u64 length : {1, 33, 30000})
      EXPECT_EQ(ops::route_rows(cpu, {rows, length, true}, norm).route, ops::RowRoute::thread);
}

// llvmpipe ends the loops of a thread after 65,535 rounds.
TEST(RowRouting, SoftwareAdaptersShareRowsThatAreTooLongForAThread) {
  const auto cpu = info_of(AdapterType::cpu);
  EXPECT_EQ(ops::route_rows(cpu, {1, 200000, true}, sum).route, ops::RowRoute::thread);
  EXPECT_EQ(ops::route_rows(cpu, {1, 200000, true}, norm).lanes, 256u);
  EXPECT_EQ(ops::route_rows(cpu, {1, 300000, true}, sum).lanes, 256u);
}

TEST(RowRouting, GpusShareLongRowsAmongAWorkgroup) {
  const auto gpu = info_of(AdapterType::discrete);
  EXPECT_EQ(ops::route_rows(gpu, {1, 33, true}, norm).lanes, 64u);
  EXPECT_EQ(ops::route_rows(gpu, {1000000, 4096, true}, norm).lanes, 256u);
  EXPECT_EQ(ops::route_rows(gpu, {1, 32, true}, norm).route, ops::RowRoute::thread);
}

TEST(RowRouting, GpusGiveManyInterleavedRowsAThreadEach) {
  const auto gpu = info_of(AdapterType::integrated);
  EXPECT_EQ(ops::route_rows(gpu, {100000, 1000, false}, sum).route, ops::RowRoute::thread);
  EXPECT_EQ(ops::route_rows(gpu, {10, 1000, false}, sum).route, ops::RowRoute::group);
}

class RowRoutes : public testing::TestWithParam<AdapterType> {
 protected:
  Device on() const { return device_of_type(GetParam()); }
};

// y = op(x, axes, keepdim) of a dynamic x.
GraphBuilder reduction(const std::string& op, const Shape& x, const Shape& y, std::vector<i64> axes) {
  GraphBuilder b;
  const u32 in = b.input(b.tensor(DType::f32, x), true), out = b.tensor(DType::f32, y);
  b.op(op, {in, b.ints(std::move(axes)), b.boolean(false), out});
  b.output(out, true);
  return b;
}

TEST_P(RowRoutes, AddAMillionElementsToFiveDigits) {
  constexpr u32 count = 1000003;
  GraphRun sum(reduction("aten.sum.dim_IntList", {1, count}, {1}, {1}), on());
  const std::vector<f32> tenths(count, 0.1f);
  const f64 exact = f64(0.1f) * count;
  EXPECT_NEAR(sum.first({floats({1, count}, tenths)})[0], exact, 5e-6 * exact);
}

TEST_P(RowRoutes, FollowRowsThatShrinkToOneElementAndGrowBack) {
  GraphRun mean(reduction("aten.mean.dim", {3, 200}, {3}, {1}), on());
  for (u32 length : {200u, 1u, 65u, 200u, 3u}) {
    const auto x = noise(u64(length) * 3, length);
    std::vector<f64> expected;
    for (u32 row = 0; row < 3; ++row) {
      f64 total = 0;
      for (u32 i = 0; i < length; ++i) total += x[row * length + i];
      expected.push_back(total / length);
    }
    expect_close(mean.first({floats({3, length}, x)}), expected, 1e-6);
  }
  EXPECT_EQ(mean.method().stats().late_pipelines, 0u);
}

TEST_P(RowRoutes, ReduceAxesThatLieApart) {
  GraphRun largest(reduction("aten.amax.default", {5, 2, 9, 3, 7}, {2, 3}, {0, 2, 4}), on());
  for (const Shape& shape : {Shape{5, 2, 9, 3, 7}, Shape{2, 2, 1, 3, 5}, Shape{5, 1, 9, 2, 7}}) {
    const auto x = noise(shape.numel());
    std::vector<f64> expected(size_t(shape[1]) * shape[3], -1);
    for (u32 i = 0; i < x.size(); ++i) {
      const u32 d = i / shape[4] % shape[3], b = i / (shape[2] * shape[3] * shape[4]) % shape[1];
      f64& best = expected[b * shape[3] + d];
      best = std::max<f64>(best, x[i]);
    }
    expect_close(largest.first({floats(shape, x)}), expected, 0);
  }
}

// More rows than a dimension of the grid has workgroups.
TEST_P(RowRoutes, FoldRowsOverTheLimitOfWorkgroups) {
  const Device small = device_like([&](gpu::DeviceInfo& info) {
    info.adapter.type = GetParam();
    info.limits.max_workgroups = 19;
  });
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {290, 40})), y = b.tensor(DType::f32, {290, 40});
  b.op("aten._softmax.default", {x, b.integer(-1), b.boolean(false), y});
  b.output(y);
  const auto values = noise(290 * 40);
  const auto actual = GraphRun(b, small).first({floats({290, 40}, values)});
  std::vector<f64> expected;
  for (u32 row = 0; row < 290; ++row) {
    f64 sum = 0;
    for (u32 i = 0; i < 40; ++i) sum += std::exp(f64(values[row * 40 + i]));
    for (u32 i = 0; i < 40; ++i) expected.push_back(std::exp(f64(values[row * 40 + i])) / sum);
  }
  expect_close(actual, expected, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Adapters, RowRoutes, testing::Values(AdapterType::cpu, AdapterType::discrete),
                         [](const auto& adapter) { return adapter.param == AdapterType::cpu ? "software" : "gpu"; });

// torch's goldens on the route that a GPU would take.
TEST(RowFixtures, MatchTorchOnTheRouteOfAGpu) {
  const Device gpu = device_of_type(AdapterType::discrete);
  for (const char* name : {"sum/one_long_row", "sum/half", "mean/half", "amax/ties", "amin/half", "argmax/ties",
                           "argmin/half", "softmax/large_values", "softmax/force_fp16", "log_softmax/half",
                           "layer_norm/all_axes", "layer_norm/statistics", "layer_norm/far_from_zero",
                           "group_norm/image", "group_norm/dynamic", "rms_norm/force_fp16"}) {
    const Fixture fixture = read_fixture(data_folder() / "ops" / name);
    for (const std::string& problem : run_fixture(fixture, gpu)) ADD_FAILURE() << name << ": " << problem;
  }
}

}  // namespace
}  // namespace pteron::test
