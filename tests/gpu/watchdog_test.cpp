// SPDX-License-Identifier: BSD-3-Clause
// Drivers reset a GPU that works on one submit for seconds, so long steps are submitted in parts. Nobody else notices.
#include "gpu/llama.h"
#include "support/allocations.h"

namespace pteron::test {
namespace {

LoadOptions with_submits_of(u32 microseconds) {
  LoadOptions options;
  options.submit_microseconds = microseconds;
  return options;
}

u64 submits() { return device().usage().submits; }

TEST(Watchdog, AStepInPartsGivesTheSame) {
  Llama whole("rope_llama", with_submits_of(0)), divided("rope_llama", with_submits_of(5));
  EXPECT_EQ(divided.logits({1, 2, 3, 4, 5}, 0), whole.logits({1, 2, 3, 4, 5}, 0));
  for (i64 position = 5; position < 12; ++position) {  // foreseen and recorded from the third on
    const std::vector<f32> expected = whole.logits({position + 1}, position);
    const u64 before = submits();
    EXPECT_EQ(divided.logits({position + 1}, position), expected);
    EXPECT_GT(submits() - before, 1u);
  }
  EXPECT_EQ(divided.logits({9}, 3), whole.logits({9}, 3));  // not foreseen
}

TEST(Watchdog, EveryDispatchMayBeAPart) {
  Llama whole("rope_llama", with_submits_of(0)), divided("rope_llama", with_submits_of(1));
  EXPECT_EQ(divided.logits({7, 8}, 0), whole.logits({7, 8}, 0));
}

TEST(Watchdog, AShortStepIsOneSubmit) {
  Llama llama;
  for (i64 position = 0; position < 4; ++position) {
    const u64 before = submits();
    ASSERT_TRUE(llama.step({3}, position).has_value());
    EXPECT_EQ(submits() - before, 1u);
  }
}

TEST(Watchdog, PartsAllocateAndCreateNothing) {
  Llama llama("rope_llama", with_submits_of(5));
  i64 token = 3, position = 0;
  const TensorView inputs[] = {{DType::i64, Shape{1, 1}, std::as_bytes(std::span(&token, 1))},
                               {DType::i64, Shape{1}, std::as_bytes(std::span(&position, 1))}};
  const auto step = [&] { return llama.method->begin(inputs).has_value() && llama.method->finish().has_value(); };
  for (; position < 4; ++position) ASSERT_TRUE(step());
  const u64 created = device().usage().creates;
  const long allocated = allocation_count();
  for (; position < 34; ++position) ASSERT_TRUE(step());
  EXPECT_EQ(allocation_count(), allocated);
  EXPECT_EQ(device().usage().creates, created);
}

TEST(Watchdog, ProfilesAreOfTheWholeStep) {
  if (!device().adapter().timestamps) return;
  Llama whole("rope_llama", with_submits_of(0)), divided("rope_llama", with_submits_of(5));
  for (Llama* llama : {&whole, &divided}) {
    llama->method->set_profiling(true);
    ASSERT_TRUE(llama->step({1, 2}, 0).has_value());
  }
  EXPECT_EQ(divided.method->profile().size(), whole.method->profile().size());
}

}  // namespace
}  // namespace pteron::test
