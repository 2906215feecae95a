// SPDX-License-Identifier: BSD-3-Clause
// A real chat model, converted: SmolLM2-135M-Instruct, Q4_1 with a Q8_0 embedding. Needs the group `model` of pins.txt.
#pragma once

#include "convert/convert.h"
#include "gpu/language_model.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace pteron::test {

class SmolLm2 : public testing::Test {
 protected:
  static std::filesystem::path gguf();
  // The converted model, as `pteron convert` makes it.
  static std::filesystem::path program();
  // Another one, for texts of at most so many tokens, that gives the logits of each of them.
  static std::filesystem::path all_logits_program();
  static void convert_with_all_logits(u32 longest);
  static nlohmann::json golden(const std::string& name);

  static void SetUpTestSuite();
  static void TearDownTestSuite();

  static const LanguageModel& model();  // loaded when first asked for

  static inline convert::Report report;
  static inline f64 seconds = 0;  // of CPU time that the conversion took

 private:
  static inline std::optional<LanguageModel> model_;
};

}  // namespace pteron::test
