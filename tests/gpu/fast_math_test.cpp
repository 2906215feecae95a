// SPDX-License-Identifier: BSD-3-Clause
// fast_math: prompts go through 4-bit linears in 8 bits. How far that may be from the exact product follows from the
// scales; what is not asked for stays exact.
#include "convert/convert.h"
#include "gpu/language_model.h"
#include "gpu/llama.h"
#include "support/builder.h"
#include "support/relative_error.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace pteron::test {
namespace {

LoadOptions with_fast_math(bool on = true) {
  LoadOptions options;
  options.device = device();
  options.fast_math = on;
  return options;
}

// Numbers without a pattern, from -1 to 1.
std::vector<f32> numbers(size_t count, u32 seed) {
  std::vector<f32> out;
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    out.push_back(f32(i32(seed >> 8)) / 0x1p23f - 1);
  }
  return out;
}

// A 4-bit linear with group size 32, and plain loops for it.
struct Linear {
  u32 rows, depth, columns, groups = (depth + 31) / 32;
  std::vector<u8> bytes = std::vector<u8>(size_t(columns) * depth / 2);
  std::vector<f32> scales = std::vector<f32>(size_t(groups) * columns);

  Linear(u32 rows_, u32 depth_, u32 columns_) : rows(rows_), depth(depth_), columns(columns_) {
    const auto random = numbers(bytes.size() + scales.size(), depth);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = u8((random[i] + 1) * 127);
    for (size_t i = 0; i < scales.size(); ++i) scales[i] = random[bytes.size() + i] / 4;
  }

  f64 weight(u32 column, u32 k) const {
    const u8 byte = bytes[(column * depth + k) / 2];
    return (f64(k % 2 == 0 ? byte & 15 : byte >> 4) - 8) * scales[k / 32 * columns + column];
  }

  std::vector<f32> run(const std::vector<f32>& x, const LoadOptions& options) const {
    GraphBuilder b;
    const u32 in = b.input(b.tensor(DType::f32, {rows, depth})), y = b.tensor(DType::f32, {rows, columns});
    const u32 w = b.constant<u8>(DType::u8, {columns, depth / 2}, bytes);
    const u32 s = b.constant<f32>(DType::f32, {groups, columns}, scales);
    b.op("et_vk.linear_q4gsw.default", {in, w, s, b.integer(32), b.null(), y});
    b.output(y);
    auto program = Program::load(b.program(), options);
    auto method = program->method();
    if (!method) return ADD_FAILURE() << method.error().to_string(), std::vector<f32>();
    const Tensor input = tensor_of<f32>(DType::f32, {rows, depth}, x);
    auto outputs = method->execute(std::vector<TensorView>{input});
    if (!outputs) return ADD_FAILURE() << outputs.error().to_string(), std::vector<f32>();
    const auto values = (*outputs)[0].as<f32>();
    return {values.begin(), values.end()};
  }

  // Each element of x is off by at most half of its block's scale.
  void expect_within_half_a_step(const std::vector<f32>& x, const std::vector<f32>& y) const {
    ASSERT_EQ(y.size(), rows * columns);
    for (u32 r = 0; r < rows; ++r)
      for (u32 n = 0; n < columns; ++n) {
        f64 exact = 0, bound = 1e-4;
        for (u32 k = 0; k < depth; ++k) {
          f64 most = 0;
          for (u32 i = k / 32 * 32; i < std::min(k / 32 * 32 + 32, depth); ++i)
            most = std::max(most, std::abs(f64(x[r * depth + i])));
          exact += weight(n, k) * x[r * depth + k];
          bound += std::abs(weight(n, k)) * (most / 127) * 0.501;
        }
        ASSERT_NEAR(y[r * columns + n], exact, bound) << "row " << r << ", column " << n;
      }
  }
};

TEST(FastMath, AProductIsAsCloseAsHalfAStepOfEightBits) {
  for (const auto& [rows, depth, columns] :
       {std::array{9u, 32u, 4u}, {37u, 72u, 41u}, {64u, 576u, 96u}, {200u, 8u, 130u}}) {
    const Linear linear(rows, depth, columns);
    auto x = numbers(size_t(rows) * depth, rows);
    for (u32 k = 0; k < depth; ++k) x[k] = 0, x[depth + k] *= 1e-30f, x[2 * depth + k] *= 1e30f;
    linear.expect_within_half_a_step(x, linear.run(x, with_fast_math()));
  }
}

TEST(FastMath, FewRowsAndWhatDoesNotAskForItAreExact) {
  const Linear few(8, 96, 40), many(9, 96, 40);
  const auto x = numbers(9 * 96, 1);
  EXPECT_EQ(few.run({x.begin(), x.begin() + 8 * 96}, with_fast_math()),
            few.run({x.begin(), x.begin() + 8 * 96}, with_fast_math(false)));
  EXPECT_NE(many.run(x, with_fast_math()), many.run(x, with_fast_math(false)));
}

TEST(FastMath, ARowThatIsNotFiniteIsNotANumberAndNoOther) {
  const Linear linear(10, 64, 12);
  for (f32 bad : {std::numeric_limits<f32>::infinity(), -std::numeric_limits<f32>::infinity(),
                  std::numeric_limits<f32>::quiet_NaN()}) {
    auto x = numbers(10 * 64, 3);
    x[4 * 64 + 40] = bad;
    const auto y = linear.run(x, with_fast_math());
    ASSERT_EQ(y.size(), 10u * 12);
    for (u32 i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / 12 == 4) << i;
  }
}

TEST(FastMath, ALlamaIsCloseToTorchAndDecodesExactly) {
  std::vector<i64> tokens(40);
  std::iota(tokens.begin(), tokens.end(), 7);
  Llama exact, fast("rope_llama", with_fast_math());
  const auto a = exact.logits(tokens, 0), b = fast.logits(tokens, 0);
  EXPECT_NE(a, b);
  EXPECT_LE(relative_error(b, a), 0.05);
  exact.method->reset(), fast.method->reset();
  for (i64 i = 0; i < 12; ++i) EXPECT_EQ(exact.logits({i}, i), fast.logits({i}, i));
}

// With norms, residuals, gates, biases, minima and weights of two planes around the linears.
class FastMathFormats : public testing::TestWithParam<const char*> {};

TEST_P(FastMathFormats, PromptsAreCloseToTheExactOnes) {
  const auto source = read_bytes(data_folder() / "gguf" / (std::string(GetParam()) + ".gguf"));
  std::vector<std::byte> file;
  const auto collect = [&](Bytes bytes) -> Status {
    return file.insert(file.end(), bytes.begin(), bytes.end()), Status();
  };
  ASSERT_EQ(error_of(convert::convert(format::from_memory(source), {}, collect)), "");
  std::vector<std::vector<f32>> logits;
  for (bool on : {false, true}) {
    auto program = Program::load(file, with_fast_math(on));
    ASSERT_EQ(error_of(program), "");
    auto model = LanguageModel::create(*std::move(program), std::nullopt, std::nullopt);
    ASSERT_EQ(error_of(model), "");
    auto session = model->session();
    std::vector<u32> tokens(20);
    std::iota(tokens.begin(), tokens.end(), 3);
    ASSERT_EQ(error_of(session->replace(tokens)), "");
    ASSERT_EQ(error_of(session->begin(Readback::logits)), "");
    ASSERT_EQ(error_of(session->finish()), "");
    logits.emplace_back(session->logits().begin(), session->logits().end());
  }
  EXPECT_LE(relative_error(logits[1], logits[0]), 0.05);
}

INSTANTIATE_TEST_SUITE_P(Tiny, FastMathFormats,
                         testing::Values("llama_q4_0", "llama_q4_1", "llama_q8_0_linear_rope", "llama_q5_partial_rope",
                                         "llama_q6_k_llama3_rope", "llama_k_m", "qwen2_q4_1_yarn", "qwen3_q8_0"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace pteron::test
