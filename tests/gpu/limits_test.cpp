// SPDX-License-Identifier: BSD-3-Clause
// Sizes that a device's limits get in the way of, indices that are out of range, and a GPU that goes away.
#include "gpu/llama.h"
#include "gpu/native/native.h"
#include "runtime/device_inside.h"
#include "support/builder.h"

namespace pteron::test {
namespace {

Program load(const GraphBuilder& b, const Device& on = device()) {
  LoadOptions options;
  options.device = on;
  return *Program::load(b.program(), options);
}

TEST(Grid, MoreThan65535WorkgroupsAreFolded) {
  const u32 count = 65536 * 64 * 4 + 77;  // four elements to a thread
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::u8, {count})), y = b.tensor(DType::u8, {count});
  b.op("aten.add.Tensor", {x, x, b.integer(1), y});
  b.output(y);
  Program program = load(b);
  auto method = program.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  Tensor input(DType::u8, {count});
  for (u32 i = 0; i < count; ++i) input.as<u8>()[i] = u8(i % 101);
  auto outputs = method->execute({input});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  for (u32 i = 0; i < count; ++i) ASSERT_EQ((*outputs)[0].as<u8>()[i], 2 * (i % 101)) << i;
}

TEST(Grid, MoreThan65535RowsAreFolded) {
  const u32 rows = 70001;
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {rows, 2})), y = b.tensor(DType::f32, {rows, 2});
  const u32 w = b.constant<f32>(DType::f32, {2}, {1, 1});
  b.op("et_vk.rms_norm.default", {x, w, b.number(0), y});
  b.output(y);
  Program program = load(b);
  auto method = program.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  Tensor input(DType::f32, {rows, 2});
  for (size_t i = 0; i < rows; ++i) input.as<f32>()[2 * i] = input.as<f32>()[2 * i + 1] = f32(i + 1);
  auto outputs = method->execute({input});
  ASSERT_TRUE(outputs.has_value());
  for (u32 i = 0; i < 2 * rows; ++i) ASSERT_NEAR((*outputs)[0].as<f32>()[i], 1, 1e-5) << i;
}

GraphBuilder embedding(u32 vocabulary, u32 width, u32 group, bool direct) {
  GraphBuilder b;
  std::vector<u8> weights(vocabulary * width / 2);
  for (u32 i = 0; i < weights.size(); ++i) weights[i] = u8(i * 29 + i / 7);
  const u32 w = b.constant<u8>(DType::u8, {vocabulary, width / 2}, weights);
  const u32 scales =
      b.constant<f32>(DType::f32, {vocabulary, width / group}, std::vector<f32>(vocabulary * width / group, 0.5f));
  u32 index = b.input(b.tensor(DType::i32, {3}), true, DType::i64);
  if (!direct) {  // computed on the GPU, so only the kernel can see it
    const u32 sum = b.tensor(DType::i32, {3});
    b.op("aten.add.Tensor", {index, index, b.integer(1), sum});
    index = sum;
  }
  const u32 y = b.tensor(DType::f32, {3, width});
  b.op("et_vk.embedding_q4gsw.default", {w, scales, b.integer(group), index, b.boolean(true), y});
  b.output(y, true);
  return b;
}

TEST(EmbeddingQ4, RejectsAnIndexBeyondTheVocabulary) {
  for (bool direct : {true, false}) {
    Program program = load(embedding(10, 32, 32, direct));
    auto method = program.method();
    ASSERT_TRUE(method.has_value()) << method.error().to_string();
    const i64 factor = direct ? 1 : 2;
    const auto run = [&](i64 a, i64 c) {
      return method->execute({tensor_of<i64>(DType::i64, {3}, {a / factor, 0, c / factor})});
    };
    for (i64 bad : {i64(10), i64(-2), i64(1000000)}) {
      auto outputs = run(4, bad);
      ASSERT_FALSE(outputs.has_value()) << bad;
      EXPECT_EQ(outputs.error().kind, ErrorKind::invalid);
      EXPECT_NE(outputs.error().to_string().find("token " + std::to_string(bad)), std::string::npos)
          << outputs.error().to_string();
      EXPECT_NE(outputs.error().to_string().find("there are 10"), std::string::npos) << outputs.error().to_string();
      outputs = run(4, 8);
      ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
      // Row 4, even element 0: the low nibble of byte 64.
      const u8 byte = u8(64 * 29 + 64 / 7);
      EXPECT_EQ((*outputs)[0].as<f32>()[0], (f32(byte & 15) - 8) * 0.5f);
    }
  }
}

TEST(EmbeddingQ4, RunsTheShapeOfA1BLlama) {
  Program program = load(embedding(257, 2048, 64, true));
  auto method = program.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  auto outputs = method->execute({tensor_of<i64>(DType::i64, {2}, {256, 1})});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  for (u32 e = 0; e < 2048; ++e) {
    const u32 at = 256 * 1024 + e / 2;
    const u8 byte = u8(at * 29 + at / 7);
    ASSERT_EQ((*outputs)[0].as<f32>()[e], (f32(e % 2 ? byte >> 4 : byte & 15) - 8) * 0.5f) << e;
  }
}

TEST(Weights, LargerThanOneBindingAreSplit) {
  // A device that pretends to bind at most 4 KiB runs the same program with the same answers.
  gpu::OpenOptions small;
  small.max_storage_binding_bytes = 4096;
  auto raw = gpu::open_device(small);
  ASSERT_TRUE(raw.has_value());
  const Device tiny = make_device(std::make_shared<graph::Context>(*raw));
  Program whole = load(embedding(1000, 64, 32, true)), split = load(embedding(1000, 64, 32, true), tiny);
  auto a = whole.method(), b = split.method();
  ASSERT_TRUE(a.has_value());
  // The scales of 1,000 × 2 floats do not fit one binding of this device: that is an error, not a wrong answer.
  ASSERT_FALSE(b.has_value());
  EXPECT_EQ(b.error().kind, ErrorKind::out_of_memory);
  small.max_storage_binding_bytes = 8192;
  raw = gpu::open_device(small);
  const Device medium = make_device(std::make_shared<graph::Context>(*raw));
  split = load(embedding(1000, 64, 32, true), medium);
  b = split.method();
  ASSERT_TRUE(b.has_value()) << b.error().to_string();
  const Tensor index = tensor_of<i64>(DType::i64, {3}, {999, 0, 300});
  const auto expected = a->execute({index}), actual = b->execute({index});
  ASSERT_TRUE(actual.has_value()) << actual.error().to_string();
  EXPECT_TRUE(std::equal((*expected)[0].bytes().begin(), (*expected)[0].bytes().end(), (*actual)[0].bytes().begin()));
  EXPECT_GT(b->stats().dispatches, a->stats().dispatches);
}

TEST(DeviceLoss, IsAnErrorOfEveryLaterCall) {
  const Device doomed = *Device::open({});
  LoadOptions options;
  options.device = doomed;
  Llama llama("rope_llama", options);
  ASSERT_TRUE(llama.step({1, 2}, 0).has_value());
  gpu::destroy_underlying_device(context_of(doomed)->device());
  for (int i = 0; i < 3; ++i) {
    const auto outputs = llama.step({1, 2}, 0);
    ASSERT_FALSE(outputs.has_value());
    EXPECT_EQ(outputs.error().kind, ErrorKind::device_lost) << outputs.error().to_string();
  }
  EXPECT_EQ(llama.method->reset().error().kind, ErrorKind::device_lost);
  EXPECT_EQ(llama.method->clone().error().kind, ErrorKind::device_lost);
  EXPECT_EQ(llama.program->method("forward").error().kind, ErrorKind::device_lost);
}

TEST(DeviceLoss, IsFoundOutByTheCallThatComesFirst) {
  const Device doomed = *Device::open({});
  LoadOptions options;
  options.device = doomed;
  Llama llama("rope_llama", options);
  gpu::Device& inside = context_of(doomed)->device();
  gpu::destroy_underlying_device(inside, false);
  const auto outputs = llama.step({1, 2}, 0);
  ASSERT_FALSE(outputs.has_value());
  EXPECT_EQ(outputs.error().kind, ErrorKind::device_lost) << outputs.error().to_string();
  EXPECT_EQ(inside.health().error().kind, ErrorKind::device_lost);
}

TEST(DeviceLoss, DuringAStepIsAnError) {
  const Device doomed = *Device::open({});
  LoadOptions options;
  options.device = doomed;
  Llama llama("rope_llama", options);
  const std::vector<i64> tokens{1, 2, 3};
  const i64 position = 0;
  const TensorView inputs[] = {{DType::i64, Shape{1, 3}, std::as_bytes(std::span(tokens))},
                               {DType::i64, Shape{1}, std::as_bytes(std::span(&position, 1))}};
  ASSERT_TRUE(llama.method->begin(inputs).has_value());
  gpu::destroy_underlying_device(context_of(doomed)->device());
  const auto done = llama.method->finish();
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().kind, ErrorKind::device_lost);
}

TEST(Adapters, AnUnknownOneIsRefusedWithTheListOfThoseThatExist) {
  DeviceOptions options;
  options.adapter = "no such gpu";
  const auto named = Device::open(options);
  ASSERT_FALSE(named.has_value());
  EXPECT_EQ(named.error().kind, ErrorKind::not_found);
  EXPECT_NE(named.error().message.find(device().adapter().name), std::string::npos);
  options.adapter = "99";
  EXPECT_FALSE(Device::open(options).has_value());
  options.adapter = "0";
  EXPECT_TRUE(Device::open(options).has_value());
}

}  // namespace
}  // namespace pteron::test
