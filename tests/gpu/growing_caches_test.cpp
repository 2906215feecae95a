// SPDX-License-Identifier: BSD-3-Clause
// Caches start small and grow with the positions that are used; nobody notices but the memory.
#include "convert/convert.h"
#include "gpu/llama.h"
#include "gpu/run_graph.h"
#include "support/gguf_file.h"

namespace pteron::test {
namespace {

constexpr u32 context = 1000;

Result<Program> long_program() {
  std::vector<std::byte> file;
  const auto collect = [&](Bytes bytes) -> Status {
    file.insert(file.end(), bytes.begin(), bytes.end());
    return {};
  };
  convert::Options options;
  options.max_context = context;
  options.max_seq_len = 400;
  GgufFile gguf = GgufFile::tiny_llama();
  gguf.set("llama.context_length", context);
  u32 seed = 0;
  for (GgufFile::Item& item : gguf.items) {
    const auto values = noise(item.data.size() / sizeof(f32), ++seed);
    std::memcpy(item.data.data(), values.data(), item.data.size());
  }
  TRY_DO(convert::convert(format::from_memory(gguf.bytes()), options, collect));
  LoadOptions load;
  load.device = device();
  return Program::load(std::move(file), load);
}

Result<Method> long_llama() {
  TRY(Program program, long_program());
  return program.method("forward");
}

std::vector<f32> feed(Method& method, u32 from, u32 to) {
  std::vector<i64> tokens;
  for (u32 i = from; i < to; ++i) tokens.push_back((i * i + 1) % 5);
  const auto outputs = Llama::step(method, tokens, from);
  if (!outputs) return ADD_FAILURE() << outputs.error().to_string(), std::vector<f32>();
  const auto values = (*outputs)[0].as<f32>();
  return {values.begin(), values.end()};
}

u64 bytes_now() { return device().usage().buffer_bytes; }

TEST(GrowingCaches, StepsAcrossABoundaryEqualOnesThatStartBehindIt) {
  auto small = long_llama(), large = long_llama();
  ASSERT_TRUE(small.has_value()) << small.error().to_string();
  ASSERT_TRUE(large.has_value());
  feed(*large, 999, 1000);  // all of it at once
  ASSERT_TRUE(large->reset().has_value());
  u32 position = 0;
  for (u32 next : {250u, 255u, 256u, 257u, 258u, 500u, 513u, 514u, 768u, 769u, 800u, 999u, 1000u}) {
    expect_close(feed(*small, position, next), feed(*large, position, next), 1e-5);
    position = next;
  }
}

TEST(GrowingCaches, TakeMemoryWhenItIsNeeded) {
  auto method = long_llama();
  ASSERT_TRUE(method.has_value());
  const u64 start = bytes_now();
  feed(*method, 0, 250);
  EXPECT_EQ(bytes_now(), start);
  feed(*method, 250, 260);
  const u64 grown = bytes_now();
  EXPECT_GT(grown, start);
  for (u32 i = 260; i < 300; ++i) feed(*method, i, i + 1);
  EXPECT_EQ(bytes_now(), grown);
}

// The second method's step is like the last one of the first, whose caches have grown.
TEST(GrowingCaches, AStateWithLessRoomGrowsThoughNothingIsPlannedAgain) {
  auto program = long_program();
  ASSERT_TRUE(program.has_value());
  auto first = *program->method(), second = *program->method();
  for (u32 i : {0u, 300u}) feed(first, i, i + 300);
  feed(first, 600, 601);
  feed(first, 600, 601);
  const auto actual = feed(second, 600, 601);
  EXPECT_EQ(second.stats().replanned, first.stats().replanned);  // those that read the position from the input
  auto fresh = long_llama();
  expect_close(actual, feed(*fresh, 600, 601), 1e-6);
  expect_close(feed(second, 601, 602), feed(*fresh, 601, 602), 1e-6);
}

TEST(GrowingCaches, CopiesAndRewindsKeepWhatIsThere) {
  auto method = long_llama();
  ASSERT_TRUE(method.has_value());
  feed(*method, 0, 300);
  const auto expected = feed(*method, 300, 310);
  auto copy = method->clone();
  ASSERT_TRUE(copy.has_value());
  ASSERT_TRUE(copy->rewind(300).has_value());
  EXPECT_EQ(feed(*copy, 300, 310), expected);
  ASSERT_TRUE(method->rewind(900).has_value());
  ASSERT_TRUE(method->rewind(10).has_value());
  feed(*method, 10, 300);
  EXPECT_EQ(feed(*method, 300, 310), expected);
}

TEST(GrowingCaches, ARefusedPositionCostsNothing) {
  auto method = long_llama();
  ASSERT_TRUE(method.has_value());
  feed(*method, 0, 5);
  const u64 before = bytes_now();
  const std::vector<i64> tokens(10, 1);
  EXPECT_FALSE(Llama::step(*method, tokens, 995).has_value());
  EXPECT_EQ(bytes_now(), before);
  feed(*method, 5, 6);
  EXPECT_EQ(bytes_now(), before);
}

}  // namespace
}  // namespace pteron::test
