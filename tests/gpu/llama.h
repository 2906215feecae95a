// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "gpu/environment.h"
#include "support/fixture.h"

#include <nlohmann/json.hpp>

#include <fstream>

namespace pteron::test {

// A tiny Llama of the repository with its goldens.
struct Llama {
  explicit Llama(const std::string& name = "rope_llama", LoadOptions options = {}, const MethodOptions& with = {})
      : folder(data_folder() / "llama_tiny" / name) {
    std::ifstream file(folder / "manifest.json");
    manifest = nlohmann::json::parse(file);
    if (!options.device) options.device = device();
    program.emplace(*Program::load(folder / "model.pte", options));
    method.emplace(*program->method("forward", with));
  }

  static Result<std::span<const Tensor>> step(Method& method, const std::vector<i64>& tokens, i64 position) {
    return method.execute({{DType::i64, Shape{1, u32(tokens.size())}, std::as_bytes(std::span(tokens))},
                           {DType::i64, Shape{1}, std::as_bytes(std::span(&position, 1))}});
  }
  Result<std::span<const Tensor>> step(const std::vector<i64>& tokens, i64 position) {
    return step(*method, tokens, position);
  }

  std::vector<f32> logits(const std::vector<i64>& tokens, i64 position) {
    auto outputs = step(tokens, position);
    if (!outputs) return ADD_FAILURE() << outputs.error().to_string(), std::vector<f32>();
    const auto values = (*outputs)[0].as<f32>();
    return {values.begin(), values.end()};
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

inline void expect_close(std::span<const f32> actual, std::span<const f32> expected, f64 tolerance = 2e-4) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
}

}  // namespace pteron::test
