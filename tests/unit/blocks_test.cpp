// SPDX-License-Identifier: BSD-3-Clause
// Block formats against the values that the reference package gives for the same bytes.
#include "convert/blocks.h"

#include "convert/fit_q4.h"
#include "support/fixture.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <random>

namespace pteron::convert {
namespace {

class Blocks : public testing::TestWithParam<nlohmann::json> {
 protected:
  void SetUp() override {
    const auto file = test::read_bytes(test::data_folder() / "gguf" / "blocks.bin");
    const nlohmann::json& entry = GetParam();
    const u64 offset = entry["offset"], bytes = entry["bytes"];
    blocks.assign(file.begin() + i64(offset), file.begin() + i64(offset + bytes));
    expected.resize(entry["values"]);
    std::memcpy(expected.data(), file.data() + offset + bytes, expected.size() * sizeof(f32));
    const auto found = block_format(entry["type"]);
    ASSERT_TRUE(found.has_value()) << found.error().to_string();
    format = *found;
  }
  std::vector<std::byte> blocks;
  std::vector<f32> expected;
  const BlockFormat* format = nullptr;
};

TEST_P(Blocks, DequantizeAsTheReferenceDoes) {
  EXPECT_EQ(format->name, GetParam()["name"].get<std::string>());
  ASSERT_EQ(blocks.size() / format->bytes * format->values, expected.size());
  std::vector<f32> actual(expected.size());
  dequantize(*format, blocks, actual);
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_EQ(actual[i], expected[i]) << i;
}

TEST_P(Blocks, IntegersStayInTheRangeThatTheFormatSays) {
  EXPECT_EQ(format->group == 0, format->integers == nullptr);
  if (format->group == 0) return;
  std::array<i8, 256> q;
  std::array<f32, 16> scales, minima{};
  for (size_t at = 0; at < blocks.size(); at += format->bytes) {
    format->integers(blocks.data() + at, q.data(), scales.data(), minima.data());
    for (u32 i = 0; i < format->values; ++i) {
      EXPECT_GE(q[i], format->lowest);
      EXPECT_LE(q[i], format->highest);
    }
    for (u32 i = 0; i < format->values / format->group; ++i) EXPECT_EQ(minima[i] != 0, format->has_minima());
  }
}

std::string name_of_case(const testing::TestParamInfo<nlohmann::json>& info) { return info.param["name"]; }

std::vector<nlohmann::json> formats() {
  std::ifstream file(test::data_folder() / "gguf" / "blocks.json");
  return nlohmann::json::parse(file);
}

INSTANTIATE_TEST_SUITE_P(Formats, Blocks, testing::ValuesIn(formats()), name_of_case);

f64 squared_error(std::span<const f32> numbers, std::span<const i8> q, f64 scale) {
  f64 sum = 0;
  for (size_t i = 0; i < numbers.size(); ++i) sum += std::pow(numbers[i] - scale * q[i], 2);
  return sum;
}

// The least error of very many scales, each with its best rounding.
f64 exhaustive_error(std::span<const f32> numbers) {
  f64 extreme = 0;
  for (f32 x : numbers) extreme = std::max<f64>(extreme, std::abs(x));
  f64 best = INFINITY;
  std::vector<i8> q(numbers.size());
  for (f64 sign : {-1.0, 1.0})
    for (int hundredths = 400; hundredths < 1400; ++hundredths) {
      const f64 at = hundredths / 100.0;
      f64 wq = 0, qq = 0;
      for (size_t i = 0; i < numbers.size(); ++i) {
        q[i] = i8(std::clamp(std::nearbyint(numbers[i] * sign * at / extreme), -8.0, 7.0));
        wq += f64(numbers[i]) * q[i], qq += f64(q[i]) * q[i];
      }
      if (qq > 0) best = std::min(best, squared_error(numbers, q, wq / qq));
    }
  return best;
}

TEST(FitQ4, ComesCloseToTheLeastSquaredErrorThereIs) {
  std::mt19937 random(3);
  std::normal_distribution<f32> normal;
  f64 ours = 0, least = 0;
  for (int round = 0; round < 50; ++round) {
    std::array<f32, q4_group> numbers;
    for (f32& x : numbers) x = normal(random) * 0.02f;
    std::array<i8, q4_group> q;
    const f32 scale = quantize_q4(numbers, best_q4_rounding(numbers), q);
    for (i8 value : q) EXPECT_TRUE(value >= -8 && value <= 7);
    ours += squared_error(numbers, q, scale);
    least += exhaustive_error(numbers);
  }
  EXPECT_LT(ours, 1.01 * least);
}

TEST(FitQ4, KeepsWhatIsAlreadyFourBits) {
  std::array<f32, q4_group> numbers;
  for (u32 i = 0; i < q4_group; ++i) numbers[i] = 0.25f * f32(i32(i % 16) - 8);
  std::array<i8, q4_group> q;
  EXPECT_EQ(quantize_q4(numbers, best_q4_rounding(numbers), q), 0.25f);
  for (u32 i = 0; i < q4_group; ++i) EXPECT_EQ(q[i], i32(i % 16) - 8);
}

TEST(FitQ4, GivesZerosForNothing) {
  for (f32 tiny : {0.0f, 1e-40f}) {
    std::array<f32, q4_group> numbers;
    numbers.fill(tiny);
    std::array<i8, q4_group> q;
    EXPECT_EQ(quantize_q4(numbers, best_q4_rounding(numbers), q), 0);
    for (i8 value : q) EXPECT_EQ(value, 0);
  }
}

}  // namespace
}  // namespace pteron::convert
