// SPDX-License-Identifier: BSD-3-Clause
// State (KV caches, buffers), instances that share weights, and what all of it takes on the GPU.
#include "gpu/llama.h"
#include "support/builder.h"

#include <pteron/inspect.h>

namespace pteron::test {
namespace {

std::vector<i64> tokens(i64 seed, size_t count) {
  std::vector<i64> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = (seed * 131 + i64(i) * 17) % 512;
  return out;
}

Program load(const GraphBuilder& b, LoadOptions options = {}) {
  options.device = device();
  return *Program::load(b.program(), options);
}

TEST(State, InstancesShareWeightsAndOwnTheirCaches) {
  Llama llama;
  const u64 before = device().usage().buffer_bytes;
  auto second = llama.program->method("forward");
  ASSERT_TRUE(second.has_value());
  const u64 added = device().usage().buffer_bytes - before;
  EXPECT_EQ(added, second->stats().gpu_bytes);
  EXPECT_LT(added, before);  // no second copy of the weights
  const auto a = llama.logits(tokens(1, 9), 0);
  (void)Llama::step(*second, tokens(2, 9), 0);
  // The second instance's prompt did not disturb the first one's cache.
  const auto next = llama.logits({5}, 9);
  Llama fresh;
  (void)fresh.logits(tokens(1, 9), 0);
  EXPECT_EQ(fresh.logits({5}, 9), next);
}

TEST(State, ACloneContinuesFromTheSameStateOnItsOwn) {
  Llama llama;
  (void)llama.logits(tokens(1, 12), 0);
  auto clone = llama.method->clone();
  ASSERT_TRUE(clone.has_value());
  const auto here = llama.logits({7}, 12);
  auto there = Llama::step(*clone, {7}, 12);
  ASSERT_TRUE(there.has_value());
  EXPECT_TRUE(std::equal(here.begin(), here.end(), (*there)[0].as<f32>().begin()));
  (void)llama.logits({9}, 13);
  there = Llama::step(*clone, {10}, 13);
  const auto original = llama.logits({11}, 14);
  Llama fresh;
  (void)fresh.logits(tokens(1, 12), 0);
  (void)fresh.logits({7}, 12);
  (void)fresh.logits({9}, 13);
  EXPECT_EQ(fresh.logits({11}, 14), original);
}

TEST(State, RewindForgetsLaterPositionsOnly) {
  Llama llama, fresh;
  (void)llama.logits(tokens(1, 20), 0);
  ASSERT_TRUE(llama.method->rewind(8).has_value());
  auto first = tokens(1, 20);
  first.resize(8);
  (void)fresh.logits(first, 0);
  expect_close(llama.logits({3, 4}, 8), fresh.logits({3, 4}, 8));
  const auto beyond = llama.method->rewind(129);
  ASSERT_FALSE(beyond.has_value());
  EXPECT_NE(beyond.error().message.find("128"), std::string::npos);
}

TEST(State, AnInPlaceUpdateKeepsItsResultBetweenCallsAndResets) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {3})), y = b.tensor(DType::f32, {3});
  const u32 c = b.constant<f32>(DType::f32, {3}, {1, 2, 3}), buffer = b.tensor(DType::f32, {3}),
            factors = b.constant<f32>(DType::f32, {3}, {1, 2, 3});
  b.op("et_vk.prepack.default", {c, buffer});
  b.op("aten.add.Tensor", {buffer, x, b.integer(1), buffer});
  b.op("aten.mul.Tensor", {buffer, factors, y});
  b.output(y);
  Program program = load(b);
  auto method = program.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  const Tensor input = tensor_of<f32>(DType::f32, {3}, {10, 10, 10});
  const auto expect = [&](const std::vector<f32>& want) {
    auto outputs = method->execute({input});
    ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
    EXPECT_EQ(std::vector<f32>((*outputs)[0].as<f32>().begin(), (*outputs)[0].as<f32>().end()), want);
  };
  expect({11, 24, 39});
  expect({21, 44, 69});
  ASSERT_TRUE(method->reset().has_value());
  expect({11, 24, 39});
  const auto rewound = method->rewind(0);
  ASSERT_FALSE(rewound.has_value());
  EXPECT_EQ(rewound.error().kind, ErrorKind::unsupported);
}

TEST(State, TwoCachesWithOneConstantKeyDoNotShareABuffer) {
  GraphBuilder b;
  const std::vector<f32> zeros(8, 0);
  const u32 k = b.constant<f32>(DType::f32, {1, 4, 1, 2}, zeros, "zeros"),
            v = b.constant<f32>(DType::f32, {1, 4, 1, 2}, zeros, "zeros");
  const u32 x = b.input(b.tensor(DType::f32, {1, 1, 1, 2}));
  b.op("update_cache.default", {x, k, b.integer(0), b.tensor(DType::f32, {1})});
  b.op("update_cache.default", {x, v, b.integer(2), b.tensor(DType::f32, {1})});
  b.output(k);
  b.output(v);
  Program program = load(b);
  auto method = program.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  auto outputs = method->execute({tensor_of<f32>(DType::f32, {1, 1, 1, 2}, {5, 6})});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  const auto values = [&](size_t i) {
    return std::vector<f32>((*outputs)[i].as<f32>().begin(), (*outputs)[i].as<f32>().end());
  };
  EXPECT_EQ(values(0), (std::vector<f32>{5, 6, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(values(1), (std::vector<f32>{0, 0, 0, 0, 5, 6, 0, 0}));
}

TEST(State, ThePlanOfInfoIsWhatIsReallyAllocated) {
  for (const char* name : {"rope_llama", "full_logits"}) {
    const Device fresh = *Device::open({});
    LoadOptions options;
    options.device = fresh;
    Llama llama(name, options);
    const auto report = inspect(llama.folder / "model.pte", {}, &fresh);
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(fresh.usage().buffer_bytes, report->methods[0].delegates[0].memory.total);
  }
}

TEST(State, EverythingIsGivenBackWhenAProgramGoes) {
  const Device fresh = *Device::open({});
  {
    LoadOptions options;
    options.device = fresh;
    Llama llama("rope_llama", options);
    (void)llama.logits({1, 2, 3}, 0);
    auto other = llama.program->method("forward");
    auto clone = llama.method->clone();
    EXPECT_GT(fresh.usage().buffer_bytes, 0u);
    EXPECT_GT(fresh.usage().pipelines, 0u);
  }
  const GpuUsage after = fresh.usage();
  EXPECT_EQ(after.buffers, 0u);
  EXPECT_EQ(after.buffer_bytes, 0u);
  EXPECT_EQ(after.pipelines, 0u);
  EXPECT_EQ(after.bind_groups, 0u);
}

TEST(State, OpsAndProgramsShareTheirKernels) {
  const Device fresh = *Device::open({});
  LoadOptions options = without_passes();
  options.device = fresh;
  GraphBuilder b;
  u32 x = b.input(b.tensor(DType::f32, {64}));
  for (u32 i = 0; i < 10; ++i) {
    const u32 y = b.tensor(DType::f32, {64});
    b.op("aten.relu.default", {x, y});
    x = y;
  }
  b.output(x);
  auto program = *Program::load(b.program(), options);
  auto method = *program.method();
  ASSERT_TRUE(method.execute({tensor_of<f32>(DType::f32, {64}, std::vector<f32>(64, 1))}).has_value());
  EXPECT_EQ(method.stats().dispatches, 10u);
  EXPECT_EQ(fresh.usage().pipelines, 1u);
  auto again = *Program::load(b.program(), options);
  auto other = *again.method();
  EXPECT_EQ(fresh.usage().pipelines, 1u);
}

TEST(State, AMethodOutlivesItsProgram) {
  std::optional<Method> method;
  {
    Llama llama;
    method.emplace(*llama.program->method("forward"));
  }
  EXPECT_TRUE(Llama::step(*method, {1, 2, 3}, 0).has_value());
}

TEST(State, SeveralProgramsRunSideBySide) {
  Llama a, b("full_logits");
  const auto first = a.logits(tokens(1, 5), 0);
  (void)b.step(tokens(1, 5), 0);
  Llama fresh;
  EXPECT_EQ(fresh.logits(tokens(1, 5), 0), first);
}

}  // namespace
}  // namespace pteron::test
