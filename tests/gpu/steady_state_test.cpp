// SPDX-License-Identifier: BSD-3-Clause
// After warm-up a step allocates nothing, creates nothing and always gives the same answer.
#include "base/os.h"
#include "gpu/llama.h"
#include "support/allocations.h"

namespace pteron::test {
namespace {

struct Stepper {
  explicit Stepper(Method& m) : method(m) {}

  bool step(i64 token, i64 position) {
    const TensorView inputs[] = {{DType::i64, Shape{1, 1}, std::as_bytes(std::span(&token, 1))},
                                 {DType::i64, Shape{1}, std::as_bytes(std::span(&position, 1))}};
    return method.begin(inputs).has_value() && method.finish().has_value();
  }
  Method& method;
};

TEST(SteadyState, AStepAllocatesAndCreatesNothing) {
  Llama llama;
  Stepper stepper(*llama.method);
  for (i64 i = 0; i < 4; ++i) ASSERT_TRUE(stepper.step(3, i));
  const GpuUsage before = device().usage();
  const long allocated = allocation_count();
  for (i64 i = 4; i < 64; ++i) ASSERT_TRUE(stepper.step(3, i));
  EXPECT_EQ(allocation_count() - allocated, 0);
  const GpuUsage after = device().usage();
  EXPECT_EQ(after.creates, before.creates);
  EXPECT_EQ(after.submits - before.submits, 60u);
  EXPECT_LE(after.writes - before.writes, 60u);  // one upload per step: parameters and inputs together
}

// A step like the one before is planned and recorded while that one runs, for the position that should be next. It must
// see its own inputs all the same, also where the position goes elsewhere.
TEST(SteadyState, StepsThatWerePreparedEqualFreshOnes) {
  struct Step {
    i64 token, position;
  };
  const std::vector<Step> steps{{3, 0},  {200, 1}, {3, 2},  {77, 3}, {78, 4}, {79, 2}, {80, 3},
                                {81, 4}, {82, 4},  {83, 4}, {84, 5}, {85, 7}, {86, 9}, {3, 0}};
  const auto run = [](Llama& llama, const Step& step) { return llama.logits({step.token}, step.position); };
  std::vector<std::vector<f32>> expected;
  for (size_t i = 0; i < steps.size(); ++i) {
    Llama fresh;
    for (size_t j = 0; j < i; ++j) run(fresh, steps[j]);
    fresh.logits({1, 2}, steps[i].position);  // of another shape, so nothing that was prepared fits
    expected.push_back(run(fresh, steps[i]));
  }
  Llama llama;
  const u64 before = device().usage().prepared_nanoseconds;
  for (size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(run(llama, steps[i]), expected[i]) << i;
  EXPECT_GT(device().usage().prepared_nanoseconds, before);
}

TEST(SteadyState, PreparingAStepBeyondTheEndHarmsNothing) {
  Llama llama;
  std::vector<f32> last;
  for (i64 i = 100; i < 128; ++i) last = llama.logits({3}, i);
  const auto beyond = llama.step({3}, 128);
  ASSERT_FALSE(beyond.has_value());
  EXPECT_NE(beyond.error().message.find("128"), std::string::npos) << beyond.error().message;
  EXPECT_EQ(llama.logits({3}, 127), last);
}

TEST(SteadyState, AStaticStepPlansNothingAgain) {
  Llama llama;
  ASSERT_TRUE(llama.step({1, 2, 3}, 0).has_value());
  ASSERT_TRUE(llama.step({4, 5, 6}, 0).has_value());
  EXPECT_LE(llama.method->stats().replanned, 2u);  // the two ops that read the position from the input
}

TEST(SteadyState, TheSecondExecuteEqualsTheFirstBitForBit) {
  Llama llama;
  const auto first = llama.logits({9, 8, 7, 6, 5}, 0);
  EXPECT_EQ(llama.logits({9, 8, 7, 6, 5}, 0), first);
  ASSERT_TRUE(llama.method->reset().has_value());
  EXPECT_EQ(llama.logits({9, 8, 7, 6, 5}, 0), first);
}

TEST(SteadyState, AThousandExecutesLeaveMemoryWhereItWas) {
  Llama llama;
  Stepper stepper(*llama.method);
  for (i64 i = 0; i < 100; ++i) ASSERT_TRUE(stepper.step(3, i));
  const GpuUsage before = device().usage();
  [[maybe_unused]] const u64 resident = os::resident_bytes();
  for (i64 i = 0; i < 1000; ++i) ASSERT_TRUE(stepper.step(i % 512, i % 128));
  const GpuUsage after = device().usage();
  EXPECT_EQ(after.buffer_bytes, before.buffer_bytes);
  EXPECT_EQ(after.buffers, before.buffers);
  EXPECT_EQ(after.bind_groups, before.bind_groups);
  EXPECT_EQ(after.pipelines, before.pipelines);
#ifndef __SANITIZE_ADDRESS__  // which keeps what was freed for a while
  EXPECT_LT(os::resident_bytes(), resident + (8u << 20));
#endif
}

}  // namespace
}  // namespace pteron::test
