// SPDX-License-Identifier: BSD-3-Clause
// A real chat model, converted: SmolLM2-135M-Instruct, Q4_1 with a Q8_0 embedding. Needs the group `model` of pins.txt.
#include "convert/convert.h"

#include "base/os.h"
#include "gpu/llama.h"

#include <pteron/chat.h>

#include <algorithm>

namespace pteron::test {
namespace {

namespace fs = std::filesystem;

fs::path gguf() { return fs::path(PTERON_SOURCE) / "build" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"; }

class SmolLm2 : public testing::Test {
 protected:
  static fs::path program() { return fs::path(testing::TempDir()) / "pteron_smollm2.pte"; }

  static void SetUpTestSuite() {
    auto source = format::open_file(gguf());
    ASSERT_TRUE(source.has_value()) << source.error().to_string() << "; run tools/setup model";
    std::ofstream file(program(), std::ios::binary);
    const f64 start = os::cpu_seconds();
    const auto result = convert::convert(*std::move(source), {}, [&](Bytes bytes) -> Status {
      file.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
      if (!file) return invalid("cannot write ", program().string());
      return {};
    });
    ASSERT_TRUE(result.has_value()) << result.error().to_string();
    seconds = os::cpu_seconds() - start;
    report = *result;
  }
  static void TearDownTestSuite() { fs::remove(program()); }

  static inline convert::Report report;
  static inline f64 seconds = 0;
};

TEST_F(SmolLm2, IsConvertedWithinTenSeconds) { EXPECT_LT(seconds, 10); }

// 4.5 bits and more per weight: not much larger than the model itself.
TEST_F(SmolLm2, StaysSmall) {
  EXPECT_EQ(report.file_bytes, fs::file_size(program()));
  EXPECT_LT(f64(report.file_bytes), 1.35 * f64(fs::file_size(gguf())));
}

TEST_F(SmolLm2, LogitsAreThoseOfTheDequantisedModelInTorch) {
  LoadOptions options;
  options.device = device();
  auto loaded = Program::load(program(), options);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().to_string();
  auto method = loaded->method("forward");
  ASSERT_TRUE(method.has_value()) << method.error().to_string();

  const fs::path folder = data_folder() / "smollm2";
  std::ifstream file(folder / "logits.json");
  const auto manifest = nlohmann::json::parse(file);
  const auto bytes = read_bytes(folder / "logits.bin");
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

// The tokenizer and the chat template are in the program.
TEST_F(SmolLm2, AnswersAQuestionAndAFollowUp) {
  LanguageModelOptions options;
  options.load.device = device();
  auto model = LanguageModel::load(program(), options);
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  auto chat = Chat::create(*model);
  ASSERT_TRUE(chat.has_value()) << chat.error().to_string();
  const auto ask = [&](const char* question, u32 least_reused) {
    auto answer = chat->ask(question, {.max_tokens = 16});
    EXPECT_TRUE(answer.has_value()) << answer.error().to_string();
    EXPECT_GE(answer->stats().reused_tokens, least_reused);
    while (!answer->done()) EXPECT_TRUE(answer->next().has_value());
    chat->keep(*answer);
    return answer->text();
  };
  EXPECT_EQ(ask("What is the capital of France?", 0), "The capital of France is Paris.");
  EXPECT_NE(ask("And of Italy?", 30).find("Rome"), std::string::npos);
}

}  // namespace
}  // namespace pteron::test
