// SPDX-License-Identifier: BSD-3-Clause
// Loading from a host that brings bytes when it has them must end in the same method.
#include "runtime/streamed_program.h"
#include "gpu/llama.h"
#include "support/builder.h"

namespace pteron::test {
namespace {

// Answers every need from `file`; `largest` is that of the largest one.
Status feed(StreamedProgram& program, Bytes file, u64& largest) {
  while (true) {
    const auto need = program.next();
    if (need.kind == StreamedProgram::Need::nothing) return {};
    if (need.kind == StreamedProgram::Need::pipelines) {
      TRY_DO(program.poll());
      continue;
    }
    const auto range = need.where.range;
    largest = std::max(largest, range.size);
    const std::vector<std::byte> copy(file.begin() + i64(range.offset), file.begin() + i64(range.end()));
    TRY_DO(program.supply(copy));
  }
}

StreamedProgram stream(u64 size) {
  LoadOptions options;
  options.device = device();
  return StreamedProgram({{"a stream", size}}, options);
}

Result<Method> load(StreamedProgram& program, Bytes file, u64& largest) {
  TRY_DO(feed(program, file, largest));
  TRY_DO(program.begin_method("forward"));
  TRY_DO(feed(program, file, largest));
  return program.finish_method();
}

TEST(StreamedProgram, ComputesWhatAMappedOneDoes) {
  const auto file = read_bytes(data_folder() / "llama_tiny" / "rope_llama" / "model.pte");
  auto program = stream(file.size());
  u64 largest = 0;
  auto method = load(program, file, largest);
  ASSERT_TRUE(method.has_value()) << method.error().to_string();

  Llama llama;
  const auto outputs = Llama::step(*method, {37, 235, 396}, 0);
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  const auto actual = (*outputs)[0].as<f32>();
  EXPECT_EQ(std::vector<f32>(actual.begin(), actual.end()), llama.logits({37, 235, 396}, 0));
}

TEST(StreamedProgram, NeverAsksForMoreThanAChunk) {
  const u32 count = 3 << 20;  // 12 MiB, inline in the delegate's blob
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {count})), y = b.tensor(DType::f32, {count});
  const u32 c = b.constant<f32>(DType::f32, {count}, std::vector<f32>(count, 2.0f));
  b.op("aten.add.Tensor", {x, c, b.integer(1), y});
  b.output(y);
  const auto file = b.program();
  auto program = stream(file.size());
  u64 largest = 0;
  auto method = load(program, file, largest);
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  EXPECT_LE(largest, graph::Loading::chunk_bytes);
  const Tensor input = tensor_of(DType::f32, {count}, std::vector<f32>(count, 1.0f));
  const auto outputs = method->execute({input});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_EQ((*outputs)[0].as<f32>()[count - 1], 3.0f);
}

TEST(StreamedProgram, FurtherInstancesNeedNoBytes) {
  const auto file = read_bytes(data_folder() / "llama_tiny" / "rope_llama" / "model.pte");
  auto program = stream(file.size());
  u64 largest = 0;
  const auto first = load(program, file, largest);
  ASSERT_TRUE(first.has_value());
  ASSERT_TRUE(program.begin_method("forward").has_value());
  EXPECT_EQ(program.next().kind, StreamedProgram::Need::nothing);
  EXPECT_TRUE(program.finish_method().has_value());
}

TEST(StreamedProgram, AFailedMethodLeavesNothingBehind) {
  const auto file = read_bytes(data_folder() / "llama_tiny" / "rope_llama" / "model.pte");
  auto program = stream(file.size());
  u64 largest = 0;
  ASSERT_TRUE(feed(program, file, largest).has_value());
  const u64 before = device().usage().buffer_bytes;
  ASSERT_TRUE(program.begin_method("forward").has_value());
  const auto status = program.supply(std::vector<std::byte>(program.next().where.range.size));
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().to_string().find("loading a stream: method forward: delegate 0: "), std::string::npos)
      << status.error().to_string();
  EXPECT_EQ(device().usage().buffer_bytes, before);
  ASSERT_TRUE(program.begin_method("forward").has_value());
  ASSERT_TRUE(feed(program, file, largest).has_value());
  EXPECT_TRUE(program.finish_method().has_value());
}

TEST(StreamedProgram, CallsOutOfOrderAreErrors) {
  const auto file = read_bytes(data_folder() / "llama_tiny" / "rope_llama" / "model.pte");
  auto program = stream(file.size());
  EXPECT_FALSE(program.begin_method("forward").has_value());
  EXPECT_FALSE(program.finish_method().has_value());
  EXPECT_FALSE(program.poll().has_value());
  EXPECT_FALSE(program.supply({}).has_value());
  u64 largest = 0;
  ASSERT_TRUE(feed(program, file, largest).has_value());
  EXPECT_FALSE(program.begin_method("backward").has_value());
  ASSERT_TRUE(program.begin_method("forward").has_value());
  EXPECT_FALSE(program.begin_method("forward").has_value());
  EXPECT_FALSE(program.finish_method().has_value());
  EXPECT_FALSE(program.program()->method("forward").has_value());
}

}  // namespace
}  // namespace pteron::test
