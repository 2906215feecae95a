// SPDX-License-Identifier: BSD-3-Clause
// Conversations in one submit with weights of every block format and with caches in half precision: logits are torch's,
// whatever the others are at.
#include "convert/convert.h"
#include "gpu/language_model.h"
#include "gpu/llama.h"
#include "support/relative_error.h"

namespace pteron::test {
namespace {

constexpr u32 lanes = 3, steps = 7;

std::filesystem::path folder() { return data_folder() / "gguf"; }

nlohmann::json manifest() {
  std::ifstream file(folder() / "models.json");
  return nlohmann::json::parse(file);
}

std::vector<u32> tokens() {
  std::vector<u32> out;
  for (const std::vector<u32>& call : manifest()["calls"].get<std::vector<std::vector<u32>>>())
    out.insert(out.end(), call.begin(), call.end());
  return out;
}

class BatchFormats : public testing::TestWithParam<nlohmann::json> {
 protected:
  std::string name = GetParam()["name"];

  LanguageModel model(bool f16_kv_cache) const {
    std::vector<std::byte> file;
    const auto collect = [&](Bytes bytes) -> Status {
      return file.insert(file.end(), bytes.begin(), bytes.end()), Status();
    };
    const auto source = read_bytes(folder() / (name + ".gguf"));
    EXPECT_EQ(error_of(convert::convert(format::from_memory(source), {}, collect)), "");
    LoadOptions load;
    load.device = device();
    load.f16_kv_cache = f16_kv_cache;
    auto program = Program::load(std::move(file), load);
    EXPECT_EQ(error_of(program), "");
    return *LanguageModel::create(*std::move(program), std::nullopt, std::nullopt);
  }

  // Each lane has read a token more than the one before it.
  void expect_torch(const LanguageModel& model, f64 tolerance) const {
    const std::vector<u32> text = tokens();
    const auto bytes = read_bytes(folder() / (name + ".logits.bin"));
    std::vector<f32> golden(bytes.size() / sizeof(f32));
    std::memcpy(golden.data(), bytes.data(), bytes.size());
    const size_t width = model.info().vocab_size;
    SessionBatch batch = *model.batch();
    std::vector<Session> sessions;
    for (u32 i = 0; i < lanes; ++i) {
      sessions.push_back(*model.session());
      ASSERT_EQ(error_of(sessions[i].replace(std::span(text).first(2 + i))), "");
      ASSERT_EQ(error_of(sessions[i].begin(Readback::none)), "");
      ASSERT_EQ(error_of(sessions[i].finish()), "");
    }
    for (u32 step = 0; step < steps; ++step) {
      std::vector<SessionBatch::Run> runs;
      for (u32 i = 0; i < lanes; ++i) {
        ASSERT_EQ(error_of(sessions[i].append(std::span(text).subspan(2 + i + step, 1))), "");
        runs.push_back({&sessions[i], Readback::logits});
      }
      ASSERT_EQ(error_of(batch.begin(runs)), "");
      ASSERT_EQ(error_of(batch.finish()), "");
      for (u32 i = 0; i < lanes; ++i) {
        ASSERT_EQ(error_of(runs[i].status), "");
        const auto expected = std::span<const f32>(golden).subspan((2 + i + step) * width, width);
        EXPECT_LE(relative_error(sessions[i].logits(), expected), tolerance) << "lane " << i << ", step " << step;
      }
    }
  }
};

TEST_P(BatchFormats, LogitsAreTorchs) { expect_torch(model(false), 1e-4); }

TEST_P(BatchFormats, LogitsAreCloseToTorchsWithHalfCaches) {
  if (!device().adapter().f16) return;  // see F16Cache.IsRefusedWhereShadersLackF16
  expect_torch(model(true), 4 * 0x1p-11);
}

INSTANTIATE_TEST_SUITE_P(Tiny, BatchFormats, testing::ValuesIn(manifest()["models"].get<std::vector<nlohmann::json>>()),
                         [](const auto& info) { return info.param["name"].template get<std::string>(); });

}  // namespace
}  // namespace pteron::test
