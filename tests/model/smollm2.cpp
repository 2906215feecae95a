// SPDX-License-Identifier: BSD-3-Clause
#include "model/smollm2.h"

#include "base/os.h"

namespace pteron::test {
namespace {

namespace fs = std::filesystem;

void convert_to(const fs::path& output, const fs::path& model, const convert::Options& options,
                convert::Report& report) {
  auto source = format::open_file(model);
  ASSERT_TRUE(source.has_value()) << source.error().to_string() << "; run tools/setup model";
  std::ofstream file(output, std::ios::binary);
  const auto result = convert::convert(*std::move(source), options, [&](Bytes bytes) -> Status {
    file.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    if (!file) return invalid("cannot write ", output.string());
    return {};
  });
  ASSERT_TRUE(result.has_value()) << result.error().to_string();
  report = *result;
}

}  // namespace

fs::path SmolLm2::gguf() { return fs::path(PTERON_SOURCE) / "build" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"; }
fs::path SmolLm2::program() { return fs::path(testing::TempDir()) / "pteron_smollm2.pte"; }
fs::path SmolLm2::all_logits_program() { return fs::path(testing::TempDir()) / "pteron_smollm2_all.pte"; }

nlohmann::json SmolLm2::golden(const std::string& name) {
  std::ifstream file(data_folder() / "smollm2" / name);
  return nlohmann::json::parse(file);
}

void SmolLm2::SetUpTestSuite() {
  const f64 start = os::cpu_seconds();
  ASSERT_NO_FATAL_FAILURE(convert_to(program(), gguf(), {}, report));
  seconds = os::cpu_seconds() - start;
}

void SmolLm2::convert_with_all_logits(u32 longest) {
  convert::Report ignored;
  convert_to(all_logits_program(), gguf(), {.max_context = longest, .max_seq_len = longest, .all_logits = true},
             ignored);
}

void SmolLm2::TearDownTestSuite() {
  model_.reset();
  fs::remove(program());
  fs::remove(all_logits_program());
}

const LanguageModel& SmolLm2::model() {
  if (!model_) {
    LanguageModelOptions options;
    options.load.device = *Device::open({});  // of its own: it outlives tests
    auto loaded = LanguageModel::load(program(), options);
    EXPECT_EQ(error_of(loaded), "");
    model_.emplace(*std::move(loaded));
  }
  return *model_;
}

}  // namespace pteron::test
