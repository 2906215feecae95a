// SPDX-License-Identifier: BSD-3-Clause
// Many conversations of one program: each has its caches, and they share everything else.
#include "gpu/llama.h"
#include "gpu/run_graph.h"
#include "support/allocations.h"

namespace pteron::test {
namespace {

std::vector<i64> tokens(i64 seed, size_t count) {
  std::vector<i64> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = (seed * 131 + i64(i) * 17) % 512;
  return out;
}

std::vector<f32> logits(Method& method, const std::vector<i64>& text, i64 position) {
  const auto outputs = Llama::step(method, text, position);
  if (!outputs) return ADD_FAILURE() << outputs.error().to_string(), std::vector<f32>();
  const auto values = (*outputs)[0].as<f32>();
  return {values.begin(), values.end()};
}

TEST(States, EightMethodsOfOneProgramCostOneWorkingMemory) {
  const Device fresh = *Device::open({});
  Llama llama("rope_llama", {.device = fresh});
  (void)llama.logits(tokens(1, 5), 0);
  const MethodStats one = llama.method->stats();
  EXPECT_GT(one.working_bytes, 0u);
  const u64 before = fresh.usage().buffer_bytes;
  std::vector<Method> others;
  for (u32 i = 0; i < 7; ++i) {
    others.push_back(i % 2 == 0 ? *llama.method->clone() : *llama.program->method("forward"));
    (void)logits(others.back(), tokens(i, 9), 0);
  }
  EXPECT_EQ(fresh.usage().buffer_bytes - before, 7 * one.gpu_bytes);
  EXPECT_EQ(others.back().stats().gpu_bytes, one.gpu_bytes);
  EXPECT_EQ(others.back().stats().working_bytes, one.working_bytes);
}

TEST(States, ACloneMakesItsCachesOnceAndNothingElse) {
  const Device fresh = *Device::open({});
  Llama llama("rope_llama", {.device = fresh});
  (void)llama.logits(tokens(1, 5), 0);
  const GpuUsage before = fresh.usage();
  const auto clone = llama.method->clone();
  ASSERT_TRUE(clone.has_value()) << clone.error().to_string();
  const GpuUsage after = fresh.usage();
  EXPECT_EQ(after.buffer_bytes - before.buffer_bytes, clone->stats().gpu_bytes);
  EXPECT_EQ(after.creates - before.creates, after.buffers - before.buffers);
  EXPECT_EQ(after.peak_buffer_bytes, after.buffer_bytes);  // not even for a moment
  EXPECT_EQ(after.pipelines, before.pipelines);
  EXPECT_EQ(after.bind_groups, before.bind_groups);
}

TEST(States, ConversationsThatTakeTurnsDoNotSeeEachOther) {
  constexpr u32 count = 3, turns = 6;
  Llama llama;
  std::vector<Method> methods;
  methods.reserve(count);
  for (u32 i = 0; i < count; ++i) methods.push_back(*llama.program->method("forward"));
  std::vector<std::vector<f32>> last(count);
  for (u32 i = 0; i < count; ++i) (void)logits(methods[i], tokens(i, 3 + 5 * i), 0);
  for (u32 turn = 0; turn < turns; ++turn)
    for (u32 i = 0; i < count; ++i) last[i] = logits(methods[i], {i64(7 * turn + i)}, 3 + 5 * i + turn);
  for (u32 i = 0; i < count; ++i) {
    Llama alone;
    (void)alone.logits(tokens(i, 3 + 5 * i), 0);
    std::vector<f32> expected;
    for (u32 turn = 0; turn < turns; ++turn) expected = alone.logits({i64(7 * turn + i)}, 3 + 5 * i + turn);
    EXPECT_EQ(last[i], expected) << i;
  }
}

TEST(States, ASteadyRoundOfConversationsAllocatesAndCreatesNothing) {
  constexpr i64 count = 4;
  Llama llama;
  std::vector<Method> methods;
  methods.reserve(count);
  for (i64 i = 0; i < count; ++i) methods.push_back(*llama.program->method("forward"));
  const auto round = [&](i64 turn) {
    bool well = true;
    for (i64 i = 0; i < count; ++i) {
      const i64 token = 3, position = 10 * i + turn;
      const TensorView inputs[] = {{DType::i64, Shape{1, 1}, std::as_bytes(std::span(&token, 1))},
                                   {DType::i64, Shape{1}, std::as_bytes(std::span(&position, 1))}};
      well = well && methods[size_t(i)].begin(inputs).has_value() && methods[size_t(i)].finish().has_value();
    }
    return well;
  };
  for (i64 turn = 0; turn < 4; ++turn) ASSERT_TRUE(round(turn));
  const GpuUsage before = device().usage();
  const long allocated = allocation_count();
  for (i64 turn = 4; turn < 24; ++turn) ASSERT_TRUE(round(turn));
  EXPECT_EQ(allocation_count() - allocated, 0);
  const GpuUsage after = device().usage();
  EXPECT_EQ(after.creates, before.creates);
  EXPECT_EQ(after.submits - before.submits, 20u * count);
  EXPECT_LE(after.writes - before.writes, 20u * count);
}

TEST(States, StepsUnderWayAtTheSameTimeAreIndependent) {
  Llama llama;
  auto other = *llama.program->method("forward");
  const u64 one = llama.method->stats().working_bytes;
  const auto a = tokens(1, 4), b = tokens(2, 4);
  const i64 position = 0;
  const auto begin = [&](Method& method, const std::vector<i64>& text) {
    const TensorView inputs[] = {{DType::i64, Shape{1, 4}, std::as_bytes(std::span(text))},
                                 {DType::i64, Shape{1}, std::as_bytes(std::span(&position, 1))}};
    return method.begin(inputs).has_value();
  };
  ASSERT_TRUE(begin(*llama.method, a));
  ASSERT_TRUE(begin(other, b));
  EXPECT_EQ(other.stats().working_bytes, 2 * one);
  ASSERT_TRUE(other.finish().has_value());
  ASSERT_TRUE(llama.method->finish().has_value());
  const auto first = llama.method->outputs()[0].as<f32>(), second = other.outputs()[0].as<f32>();
  Llama fresh;
  EXPECT_EQ(fresh.logits(a, 0), std::vector<f32>(first.begin(), first.end()));
  EXPECT_EQ(Llama().logits(b, 0), std::vector<f32>(second.begin(), second.end()));
}

TEST(States, AMethodIsLeftAloneWhileItsStepIsUnderWay) {
  Llama llama;
  const auto text = tokens(1, 4);
  const i64 position = 0;
  const TensorView inputs[] = {{DType::i64, Shape{1, 4}, std::as_bytes(std::span(text))},
                               {DType::i64, Shape{1}, std::as_bytes(std::span(&position, 1))}};
  ASSERT_TRUE(llama.method->begin(inputs).has_value());
  const auto expect_refused = [](const Status& status) {
    ASSERT_FALSE(status.has_value());
    EXPECT_NE(status.error().message.find("call finish first"), std::string::npos) << status.error().message;
  };
  expect_refused(llama.method->begin(inputs));
  expect_refused(llama.method->reset());
  expect_refused(llama.method->rewind(0));
  EXPECT_FALSE(llama.method->clone().has_value());
  ASSERT_TRUE(llama.method->finish().has_value());
  EXPECT_TRUE(llama.method->clone().has_value());
}

TEST(States, WorkingMemoryGoesWithTheLastMethodAndComesBack) {
  const Device fresh = *Device::open({});
  Llama llama("rope_llama", {.device = fresh});
  const auto expected = llama.logits(tokens(1, 5), 0);
  const MethodStats stats = llama.method->stats();
  const u64 before = fresh.usage().buffer_bytes;
  llama.method.reset();
  EXPECT_EQ(before - fresh.usage().buffer_bytes, stats.gpu_bytes + stats.working_bytes);
  llama.method.emplace(*llama.program->method("forward"));
  EXPECT_EQ(fresh.usage().buffer_bytes, before);
  EXPECT_EQ(llama.logits(tokens(1, 5), 0), expected);
}

}  // namespace
}  // namespace pteron::test
