// SPDX-License-Identifier: BSD-3-Clause
// The tiny Llama: 4-bit linears and embedding, KV cache, dynamic prefill.
#include "gpu/environment.h"
#include "support/fixture.h"

#include <nlohmann/json.hpp>

#include <fstream>

namespace pteron::test {
namespace {

constexpr f64 tolerance = 2e-4;

struct Llama {
  explicit Llama(const std::string& name, LoadOptions options = {}) : folder(data_folder() / "llama_tiny" / name) {
    std::ifstream file(folder / "manifest.json");
    manifest = nlohmann::json::parse(file);
    options.device = device();
    program.emplace(*Program::load(folder / "model.pte", options));
    method.emplace(*program->method("forward"));
  }

  Result<std::span<const Tensor>> step(const std::vector<i64>& tokens, i64 position) {
    return method->execute({{DType::i64, Shape{1, u32(tokens.size())}, std::as_bytes(std::span(tokens))},
                            {DType::i64, Shape{1}, std::as_bytes(std::span(&position, 1))}});
  }

  std::vector<f32> golden(const std::string& file) const {
    const auto bytes = read_bytes(folder / file);
    std::vector<f32> out(bytes.size() / 4);
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }

  std::filesystem::path folder;
  nlohmann::json manifest;
  std::optional<Program> program;
  std::optional<Method> method;
};

void expect_close(std::span<const f32> actual, std::span<const f32> expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
}

TEST(LlamaTiny, LogitsOfEveryStepMatchTorch) {
  Llama llama("rope_llama");
  for (const auto& run : llama.manifest["runs"]) {
    const auto prompt = run["prompt_ids"].get<std::vector<i64>>(),
               generated = run["generated_ids"].get<std::vector<i64>>();
    const auto logits = llama.golden(run["logits_file"]);
    const u32 vocabulary = run["logits_shape"][1];
    ASSERT_TRUE(llama.method->reset().has_value());
    std::vector<i64> tokens = prompt;
    i64 position = 0;
    for (size_t i = 0; i < generated.size(); ++i) {
      auto outputs = llama.step(tokens, position);
      ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
      expect_close((*outputs)[0].as<f32>(), std::span(logits).subspan(i * vocabulary, vocabulary));
      position += i64(tokens.size());
      tokens = {generated[i]};
    }
  }
}

TEST(LlamaTiny, LogitsOfEveryPositionMatchTorch) {
  Llama llama("full_logits");
  const auto& run = llama.manifest["runs"][0];
  auto outputs = llama.step(run["prompt_ids"].get<std::vector<i64>>(), 0);
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_TRUE((*outputs)[0].shape() == (Shape{1, 9, 512}));
  expect_close((*outputs)[0].as<f32>(), llama.golden(run["file"]));
}

}  // namespace
}  // namespace pteron::test
