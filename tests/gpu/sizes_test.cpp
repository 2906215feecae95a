// SPDX-License-Identifier: BSD-3-Clause
// Programs that are large in one way or another.
#include "gpu/native/native.h"
#include "gpu/run_graph.h"
#include "support/temporary_file.h"

#include <cstring>

namespace pteron::test {
namespace {

TEST(Sizes, SeventyOutputsAreSeventyResults) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {3}));
  for (u32 i = 0; i < 70; ++i) {
    const u32 y = b.tensor(DType::f32, {3});
    b.op("aten.mul.Scalar", {x, b.number(i), y});
    b.output(y);
  }
  GraphRun run(b);
  const auto outputs = run({floats({3}, {1, -2, 0.5f})});
  ASSERT_EQ(run.error(), "");
  ASSERT_EQ(outputs.size(), 70u);
  for (u32 i = 0; i < 70; ++i) EXPECT_EQ(outputs[i].as<f32>()[1], -2 * f32(i)) << i;
}

// Every second op has a result that someone else reads too, so that few can be joined.
TEST(Sizes, ThreeThousandOpsRun) {
  constexpr u32 ops = 3000;
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {5}));
  u32 before = x, last = x;
  for (u32 i = 0; i < ops; ++i) {
    const u32 y = b.tensor(DType::f32, {5});
    if (i % 2 == 0)
      b.op("aten.minimum.default", {last, before, y});
    else
      b.op("aten.add.Scalar", {last, b.number(1), b.integer(1), y});
    before = last;
    last = y;
  }
  b.output(last);
  std::vector<f32> expected{-1, 0, 1, 2, 3}, previous = expected, now = expected;
  for (u32 i = 0; i < ops; ++i) {
    std::vector<f32> next(5);
    for (u32 e = 0; e < 5; ++e) next[e] = i % 2 == 0 ? std::min(now[e], previous[e]) : now[e] + 1;
    previous = std::exchange(now, next);
  }
  GraphRun run(b);
  EXPECT_EQ(run.first({floats({5}, expected)}), now);
}

// The head of a 1B Llama: 131 MB of weights, more than WebGPU promises to bind at once.
TEST(Sizes, AHeadOf128256TokensRunsOnTheLeastDevice) {
  constexpr u32 tokens = 128256, width = 2048, group = 64;
  gpu::OpenOptions least;
  least.least = true;
  auto port = gpu::open_device(least);
  ASSERT_TRUE(port.has_value()) << port.error().to_string();
  const Device device = make_device(std::make_shared<graph::Context>(*std::move(port)));
  const auto byte = [](u64 i) { return u8(i * 29 + i / 1024 * 7); };
  std::vector<u8> weights(u64(tokens) * width / 2);
  for (u64 i = 0; i < weights.size(); ++i) weights[i] = byte(i);
  std::vector<f32> scales(u64(tokens) * width / group);
  for (u64 i = 0; i < scales.size(); ++i) scales[i] = f32(i % tokens % 13 + 1) / 64;
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, width})), y = b.tensor(DType::f32, {1, tokens});
  const u32 w = b.constant<u8>(DType::u8, {tokens, width / 2}, weights, "weights");
  const u32 s = b.constant<f32>(DType::f32, {width / group, tokens}, scales, "scales");
  b.op("et_vk.linear_q4gsw.default", {x, w, s, b.integer(group), b.null(), y});
  b.output(y);
  GraphRun run(b, device);
  ASSERT_EQ(run.error(), "");
  const std::vector<f32> input = noise(width);
  const std::vector<f32> logits = run.first({floats({1, width}, input)});
  ASSERT_EQ(logits.size(), tokens);
  for (const u32 token : {0u, 1u, 63u, 64u, 65535u, 65536u, 127999u, 128255u}) {
    f64 sum = 0;
    for (u32 k = 0; k < width; ++k) {
      const u8 pair = byte(u64(token) * width / 2 + k / 2);
      sum += f64(input[k]) * (f64(k % 2 ? pair >> 4 : pair & 15) - 8) * f64(scales[u64(k / group) * tokens + token]);
    }
    EXPECT_NEAR(logits[token], sum, 1e-3) << token;
  }
}

// Offsets in the file are 64 bits wide. The hole takes no space.
TEST(Sizes, SegmentsMayLieBeyondFourGiB) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {3})), y = b.tensor(DType::f32, {3});
  b.op("aten.mul.Tensor", {x, b.constant<f32>(DType::f32, {3}, {2, 3, 4}, "weight"), y});
  b.output(y);
  std::vector<std::byte> bytes = b.program();
  constexpr u64 base_at = 8 + 16, far = (u64(4) << 30) + (1 << 20);
  u64 base = 0;
  std::memcpy(&base, bytes.data() + base_at, sizeof base);
  ASSERT_GT(base, 0u);
  std::memcpy(bytes.data() + base_at, &far, sizeof far);
  const TemporaryFile file(std::vector(bytes.begin(), bytes.begin() + i64(base)));
  file.overwrite(far, {bytes.begin() + i64(base), bytes.end()});
  LoadOptions options;
  options.device = device();
  auto program = Program::load(file.path(), options);
  ASSERT_TRUE(program.has_value()) << program.error().to_string();
  auto method = program->method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  const auto outputs = method->execute({floats({3}, {1, 10, 100})});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_EQ((*outputs)[0].as<f32>()[2], 400);
}

}  // namespace
}  // namespace pteron::test
