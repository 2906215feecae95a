// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/llama.h"
#include "model/smollm2.h"

#include <pteron/inspect.h>

#include <algorithm>

namespace pteron::test {
namespace {

TEST_F(SmolLm2, IsConvertedWithinTenSeconds) { EXPECT_LT(seconds, 10); }

// 4.5 bits and more per weight: not much larger than the model itself.
TEST_F(SmolLm2, StaysSmall) {
  EXPECT_EQ(report.file_bytes, std::filesystem::file_size(program()));
  EXPECT_LT(f64(report.file_bytes), 1.35 * f64(std::filesystem::file_size(gguf())));
}

// Planes, scales and minima take the room on the GPU that they have in the GGUF file, and the head has the table of the
// embedding.
TEST_F(SmolLm2, WeightsAreAsCompactAsTheFile) {
  const Device& gpu = device();
  const auto planned = inspect(program(), {}, &gpu);
  ASSERT_TRUE(planned.has_value()) << planned.error().to_string();
  const u64 weights = planned->methods[0].delegates[0].memory.weights;
  EXPECT_LT(f64(weights), 1.02 * f64(std::filesystem::file_size(gguf())));
}

void expect_logits_of_torch(LoadOptions options, const std::filesystem::path& program, const nlohmann::json& manifest) {
  options.device = device();
  auto loaded = Program::load(program, options);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().to_string();
  auto method = loaded->method("forward");
  ASSERT_TRUE(method.has_value()) << method.error().to_string();

  const auto bytes = read_bytes(data_folder() / "smollm2" / "logits.bin");
  std::vector<f32> expected(bytes.size() / sizeof(f32));
  std::memcpy(expected.data(), bytes.data(), bytes.size());
  const u32 stride = manifest["stride"];
  size_t next = 0;
  i64 position = 0;
  for (size_t call = 0; call < manifest["calls"].size(); ++call) {
    const std::vector<i64> tokens = manifest["calls"][call];
    const auto outputs = Llama::step(*method, tokens, position);
    ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
    position += i64(tokens.size());
    const auto logits = (*outputs)[0].as<f32>();
    for (size_t i = 0; i < logits.size(); i += stride) ASSERT_NEAR(logits[i], expected[next++], 1e-3) << "logit " << i;
    const std::vector<u32> top = manifest["top"][call];
    EXPECT_EQ(u32(std::max_element(logits.begin(), logits.end()) - logits.begin()), top[0]);
  }
  EXPECT_EQ(next, expected.size());
}

TEST_F(SmolLm2, LogitsAreThoseOfTheDequantisedModelInTorch) {
  expect_logits_of_torch({}, program(), golden("logits.json"));
}
TEST_F(SmolLm2, LogitsAreTheSameWithoutPasses) {
  expect_logits_of_torch(without_passes(), program(), golden("logits.json"));
}

}  // namespace
}  // namespace pteron::test
