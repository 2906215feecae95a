// SPDX-License-Identifier: BSD-3-Clause
// KV caches in half precision, by option.
#include "gpu/llama.h"
#include "gpu/run_graph.h"
#include "support/relative_error.h"

#include <pteron/inspect.h>

#include <algorithm>

namespace pteron::test {
namespace {

using namespace std::string_view_literals;

constexpr f64 half_ulp = 0x1p-11;  // of a number in half precision, relative

LoadOptions with_half_caches() {
  LoadOptions options;
  options.f16_kv_cache = true;
  return options;
}

size_t arg_max(std::span<const f32> values) { return size_t(std::ranges::max_element(values) - values.begin()); }

f32 gap_of_top_two(std::vector<f32> values) {
  std::ranges::nth_element(values, values.begin() + 1, std::greater());
  return values[0] - values[1];
}

// Both ways of rotation.
void expect_logits_close_to_torch(const LoadOptions& options) {
  for (const char* name : {"rope_llama", "hf_rope"}) {
    SCOPED_TRACE(name);
    Llama llama(name, options);
    for (const auto& run : llama.manifest["runs"]) {
      const auto generated = run["generated_ids"].get<std::vector<i64>>();
      const auto golden = llama.golden(run["logits_file"]);
      const u32 vocabulary = run["logits_shape"][1];
      ASSERT_TRUE(llama.method->reset().has_value());
      std::vector<i64> tokens = run["prompt_ids"].get<std::vector<i64>>();
      i64 position = 0;
      for (size_t i = 0; i < generated.size(); ++i) {
        const auto expected = std::span(golden).subspan(i * vocabulary, vocabulary);
        const auto logits = llama.logits(tokens, position);
        ASSERT_EQ(logits.size(), expected.size());
        EXPECT_LT(relative_error(logits, expected), 4 * half_ulp);
        if (gap_of_top_two({expected.begin(), expected.end()}) > 0.05f) {
          EXPECT_EQ(arg_max(logits), arg_max(expected));
        }
        position += i64(tokens.size());
        tokens = {generated[i]};
      }
    }
  }
}

TEST(F16Cache, LogitsStayCloseToTorchAndClearChoicesStay) {
  if (!device().adapter().f16) return;  // see IsRefusedWhereShadersLackF16
  expect_logits_close_to_torch(with_half_caches());
}

class F16CacheOnRoute : public testing::TestWithParam<const char*> {};

TEST_P(F16CacheOnRoute, LogitsStayCloseToTorch) {
  if (!device().adapter().f16 || (GetParam() == "lanes"sv && !device().adapter().subgroups)) return;
  LoadOptions options = with_half_caches();
  options.device = device_of_type(gpu::AdapterType::discrete);
  options.routes = {str("attention=", GetParam())};
  expect_logits_close_to_torch(options);
}

INSTANTIATE_TEST_SUITE_P(Attention, F16CacheOnRoute, testing::Values("group", "tiled", "lanes", "threads"),
                         [](const auto& info) { return std::string(info.param); });

TEST(F16Cache, TakesHalfTheMemoryAndCanBeRewound) {
  if (!device().adapter().f16) return;
  const Device& gpu = device();
  const auto path = (data_folder() / "llama_tiny" / "rope_llama" / "model.pte").string();
  const auto whole = inspect(path, {}, &gpu), half = inspect(path, with_half_caches(), &gpu);
  ASSERT_TRUE(whole.has_value() && half.has_value());
  const auto state = [](const ProgramReport& r) { return r.methods[0].delegates[0].memory.state; };
  EXPECT_EQ(state(*half) * 2, state(*whole));

  Llama llama("rope_llama", with_half_caches());
  (void)llama.logits({5, 6, 7}, 0);
  const auto expected = llama.logits({8}, 3);
  (void)llama.logits({9, 10}, 4);
  ASSERT_TRUE(llama.method->rewind(3).has_value());
  expect_close(llama.logits({8}, 3), expected, 0);
}

TEST(F16Cache, IsRefusedWhereShadersLackF16) {
  DeviceOptions without;
  without.f16 = false;
  auto gpu = Device::open(without);
  ASSERT_TRUE(gpu.has_value());
  LoadOptions options = with_half_caches();
  options.device = *gpu;
  auto program = Program::load((data_folder() / "llama_tiny" / "rope_llama" / "model.pte").string(), options);
  ASSERT_TRUE(program.has_value());
  const auto method = program->method("forward");
  ASSERT_FALSE(method.has_value());
  EXPECT_EQ(method.error().kind, ErrorKind::unsupported);
  EXPECT_NE(method.error().message.find("has no f16; use a cache in float32"), std::string::npos)
      << method.error().to_string();
}

}  // namespace
}  // namespace pteron::test
