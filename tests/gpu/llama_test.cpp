// SPDX-License-Identifier: BSD-3-Clause
// The tiny Llama: 4-bit linears and embedding, KV cache, dynamic prefill.
#include "gpu/llama.h"

#include <numeric>

namespace pteron::test {
namespace {

std::vector<i64> some_tokens(size_t count, i64 seed = 0) {
  std::vector<i64> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = (i64(i) * 37 + 11 + seed * 101) % 512;
  return out;
}

// Feeds tokens in pieces of the given sizes and returns the logits after the last one.
std::vector<f32> feed(Llama& llama, const std::vector<i64>& tokens, const std::vector<size_t>& pieces) {
  std::vector<f32> out;
  size_t at = 0;
  for (size_t size : pieces) {
    out = llama.logits({tokens.begin() + std::ptrdiff_t(at), tokens.begin() + std::ptrdiff_t(at + size)}, i64(at));
    at += size;
  }
  EXPECT_EQ(at, tokens.size());
  return out;
}

void expect_logits_of_every_step(Llama llama) {
  for (const auto& run : llama.manifest["runs"]) {
    const auto generated = run["generated_ids"].get<std::vector<i64>>();
    const auto logits = llama.golden(run["logits_file"]);
    const u32 vocabulary = run["logits_shape"][1];
    ASSERT_TRUE(llama.method->reset().has_value());
    std::vector<i64> tokens = run["prompt_ids"].get<std::vector<i64>>();
    i64 position = 0;
    for (size_t i = 0; i < generated.size(); ++i) {
      expect_close(llama.logits(tokens, position), std::span(logits).subspan(i * vocabulary, vocabulary));
      position += i64(tokens.size());
      tokens = {generated[i]};
    }
  }
}

TEST(LlamaTiny, LogitsOfEveryStepMatchTorch) { expect_logits_of_every_step(Llama("rope_llama")); }

TEST(LlamaTiny, LogitsWithRotatedHalvesMatchTorch) { expect_logits_of_every_step(Llama("hf_rope")); }

TEST(LlamaTiny, LogitsOfEveryPositionMatchTorch) {
  Llama llama("full_logits");
  const auto& run = llama.manifest["runs"][0];
  auto outputs = llama.step(run["prompt_ids"].get<std::vector<i64>>(), 0);
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_TRUE((*outputs)[0].shape() == (Shape{1, 9, 512}));
  expect_close((*outputs)[0].as<f32>(), llama.golden(run["file"]));
}

TEST(LlamaTiny, PrefillInAnyPiecesGivesTheSameLogits) {
  Llama llama;
  const auto tokens = some_tokens(40);
  const auto whole = feed(llama, tokens, {40});
  for (const std::vector<size_t>& pieces :
       {std::vector<size_t>{1, 39}, {39, 1}, {7, 13, 20}, {20, 1, 1, 18}, std::vector<size_t>(40, 1)}) {
    ASSERT_TRUE(llama.method->reset().has_value());
    expect_close(feed(llama, tokens, pieces), whole);
  }
}

TEST(LlamaTiny, FirstPrefillMayBeShorterThanALaterOne) {
  Llama fresh, used;
  (void)feed(used, some_tokens(3, 5), {3});
  ASSERT_TRUE(used.method->reset().has_value());
  const auto tokens = some_tokens(90);
  expect_close(feed(used, tokens, {90}), feed(fresh, tokens, {90}));
}

TEST(LlamaTiny, PrefillOf100ThenDecodeUpToAFullContextOf128) {
  Llama whole, stepped;
  const auto tokens = some_tokens(128);
  std::vector<size_t> pieces{100};
  pieces.resize(29, 1);
  const auto expected = feed(whole, tokens, {127, 1});
  expect_close(feed(stepped, tokens, pieces), expected);
}

TEST(LlamaTiny, AFullContextIsAnErrorThatChangesNothing) {
  Llama llama;
  const auto tokens = some_tokens(101);
  (void)feed(llama, {tokens.begin(), tokens.begin() + 100}, {100});
  const auto overflow = llama.step(some_tokens(29, 3), 100);
  ASSERT_FALSE(overflow.has_value());
  EXPECT_EQ(overflow.error().kind, ErrorKind::invalid);
  EXPECT_NE(overflow.error().message.find("positions 100 to 129"), std::string::npos) << overflow.error().to_string();
  EXPECT_FALSE(llama.step({1}, -1).has_value());
  EXPECT_FALSE(llama.step({1}, 128).has_value());
  Llama fresh;
  expect_close(llama.logits({tokens[100]}, 100), feed(fresh, tokens, {100, 1}));
}

TEST(LlamaTiny, EveryPrefillLengthUsesOnlyWhatWasPreparedAtLoad) {
  Llama llama;
  for (size_t length = 1; length <= 127; ++length) {
    auto outputs = llama.step(some_tokens(length), 0);
    ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
    for (f32 v : (*outputs)[0].as<f32>()) ASSERT_TRUE(std::isfinite(v));
  }
  EXPECT_EQ(llama.method->stats().late_pipelines, 0u);
}

TEST(LlamaTiny, PassesOnAndOffAgree) {
  auto tokens = some_tokens(35);
  for (i64& token : tokens) token %= 256;
  const std::vector<size_t> parts{20, 13, 1, 1};
  for (const char* model : {"rope_llama", "hf_rope"}) {
    Llama with(model);
    const auto expected = feed(with, tokens, parts);
    Llama without(model, without_passes());
    expect_close(feed(without, tokens, parts), expected);
    EXPECT_GT(without.method->stats().dispatches, with.method->stats().dispatches);
    for (const std::string& name : without_passes().disabled_passes) {
      SCOPED_TRACE(std::string(model) + " without " + name);
      LoadOptions one_off;
      one_off.disabled_passes = {name};
      Llama other(model, one_off);
      expect_close(feed(other, tokens, parts), expected);
    }
  }
}

TEST(LlamaTiny, ArgMaxAndTopKEpiloguesAgreeWithTheLogits) {
  Llama llama("rope_llama", {}, {.epilogues = {{.kind = Epilogue::arg_max}, {.kind = Epilogue::top_k, .k = 40}}});
  for (size_t length : {5, 1, 30}) {
    auto outputs = llama.step(some_tokens(length), 0);
    ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
    ASSERT_EQ(outputs->size(), 4u);
    const auto logits = (*outputs)[0].as<f32>();
    std::vector<i32> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](i32 a, i32 b) { return logits[size_t(a)] > logits[size_t(b)]; });
    EXPECT_EQ((*outputs)[1].as<i32>()[0], order[0]);
    for (size_t i = 0; i < 40; ++i) {
      EXPECT_EQ((*outputs)[3].as<i32>()[i], order[i]);
      EXPECT_EQ((*outputs)[2].as<f32>()[i], logits[size_t(order[i])]);
    }
  }
}

TEST(LlamaTiny, UnwantedOutputsAreNeitherComputedNorReadBack) {
  Llama llama("rope_llama", {}, {.epilogues = {{.kind = Epilogue::arg_max}}});
  const auto run = [&](const OutputSet& wanted) {
    const auto tokens = some_tokens(4);
    const i64 position = 0;
    const TensorView inputs[] = {{DType::i64, Shape{1, 4}, std::as_bytes(std::span(tokens))},
                                 {DType::i64, Shape{1}, std::as_bytes(std::span(&position, 1))}};
    EXPECT_TRUE(llama.method->begin(inputs, wanted).has_value());
    EXPECT_TRUE(llama.method->finish().has_value());
    return llama.method->stats();
  };
  const MethodStats all = run({0, 1}), best = run({1}), none = run({});
  EXPECT_GE(all.read_back_bytes, 2048u);
  EXPECT_LE(best.read_back_bytes, 64u);  // one index and the fault words
  EXPECT_EQ(best.dispatches, all.dispatches);
  EXPECT_LT(none.dispatches, best.dispatches);  // no head, only what the caches need
}

}  // namespace
}  // namespace pteron::test
