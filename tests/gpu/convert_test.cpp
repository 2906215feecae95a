// SPDX-License-Identifier: BSD-3-Clause
// Converted GGUF models of every architecture and block format: logits of prefill, chunks and single steps are torch's.
#include "convert/convert.h"
#include "gpu/llama.h"

namespace pteron::test {
namespace {

constexpr f64 tolerance = 1e-4;

std::filesystem::path folder() { return data_folder() / "gguf"; }

nlohmann::json manifest() {
  std::ifstream file(folder() / "models.json");
  return nlohmann::json::parse(file);
}

// Tokens of successive calls.
std::vector<std::vector<i64>> calls() { return manifest()["calls"]; }

std::vector<f32> golden(const std::string& name) {
  const auto bytes = read_bytes(folder() / (name + ".logits.bin"));
  std::vector<f32> out(bytes.size() / sizeof(f32));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

Result<Method> converted(const std::string& name, const convert::Options& options, LoadOptions load = {}) {
  std::vector<std::byte> file;
  const auto collect = [&](Bytes bytes) -> Status {
    file.insert(file.end(), bytes.begin(), bytes.end());
    return {};
  };
  TRY_DO(convert::convert(format::from_memory(read_bytes(folder() / (name + ".gguf"))), options, collect));
  load.device = device();
  TRY(Program program, Program::load(std::move(file), load));
  return program.method("forward");
}

class ConvertedModel : public testing::TestWithParam<nlohmann::json> {
 protected:
  std::string name = GetParam()["name"];
  u32 vocabulary = GetParam()["vocabulary"];
  std::vector<f32> expected = golden(name);
};

TEST_P(ConvertedModel, LogitsOfEveryCallAreTorchs) {
  const auto routed = [](const char* route) {
    LoadOptions load;
    load.routes = {str("linear_q4=", route)};
    return load;
  };
  for (const LoadOptions& load : {LoadOptions{}, without_passes(), routed("lines"), routed("registers")}) {
    auto method = converted(name, {}, load);
    ASSERT_TRUE(method.has_value()) << method.error().to_string();
    i64 position = 0;
    for (const std::vector<i64>& tokens : calls()) {
      const auto outputs = Llama::step(*method, tokens, position);
      ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
      position += i64(tokens.size());
      expect_close((*outputs)[0].as<f32>(), std::span(expected).subspan(u64(position - 1) * vocabulary, vocabulary),
                   tolerance);
    }
  }
}

TEST_P(ConvertedModel, LogitsOfEveryPositionAreTorchs) {
  convert::Options options;
  options.all_logits = true;
  auto method = converted(name, options);
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  std::vector<i64> sequence;
  for (const std::vector<i64>& tokens : calls()) sequence.insert(sequence.end(), tokens.begin(), tokens.end());
  const auto outputs = Llama::step(*method, sequence, 0);
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_TRUE((*outputs)[0].shape() == (Shape{1, u32(sequence.size()), vocabulary}));
  expect_close((*outputs)[0].as<f32>(), expected, tolerance);
}

std::string name_of_case(const testing::TestParamInfo<nlohmann::json>& info) { return info.param["name"]; }

std::vector<nlohmann::json> models() { return manifest()["models"]; }

INSTANTIATE_TEST_SUITE_P(Tiny, ConvertedModel, testing::ValuesIn(models()), name_of_case);

// A constant whose name promises halves is checked when it is loaded.
TEST(ConvertedHalves, AreRefusedIfTheyAreNone) {
  std::vector<std::byte> file;
  const auto collect = [&](Bytes bytes) -> Status {
    file.insert(file.end(), bytes.begin(), bytes.end());
    return {};
  };
  ASSERT_TRUE(convert::convert(format::from_memory(read_bytes(folder() / "llama_q4_0.gguf")), {}, collect));
  const auto header = format::read_program_header(Bytes(file).first(64), file.size());
  const auto program = format::read_program(Bytes(file).first(header->program_size), *header, file.size());
  ASSERT_TRUE(program.has_value()) << program.error().to_string();
  for (const auto& [key, range] : program->named_data)
    if (key.starts_with(format::halves_prefix))
      for (u64 at = range.offset; at + 4 <= range.offset + range.size; at += 4) file[at] |= std::byte(1);
  LoadOptions load;
  load.device = device();
  auto loaded = Program::load(std::move(file), load);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().to_string();
  const auto method = loaded->method("forward");
  ASSERT_FALSE(method.has_value());
  EXPECT_NE(method.error().to_string().find("its constant's name promises halves"), std::string::npos)
      << method.error().to_string();
}

// 4 bits leave a relative error of about a tenth per weight; logits follow torch's and are not equal to them.
TEST(ConvertedToQ4, StaysCloseToTheOriginal) {
  convert::Options options;
  options.quantization = convert::Quantization::q4;
  for (const std::string name : {"llama_q8_0_linear_rope", "llama_f32"}) {
    auto method = converted(name, options);
    ASSERT_TRUE(method.has_value()) << method.error().to_string();
    const auto expected = golden(name);
    const std::vector<i64> tokens = calls()[0];
    const auto outputs = Llama::step(*method, tokens, 0);
    ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
    const auto actual = (*outputs)[0].as<f32>();
    f64 product = 0, a = 0, b = 0;
    for (size_t i = 0; i < actual.size(); ++i) {
      const f64 e = expected[(tokens.size() - 1) * actual.size() + i];
      product += actual[i] * e, a += actual[i] * actual[i], b += e * e;
    }
    EXPECT_GT(product / std::sqrt(a * b), 0.95) << name;
    EXPECT_LT(product / std::sqrt(a * b), 1 - 1e-6) << name;
  }
}

}  // namespace
}  // namespace pteron::test
