// SPDX-License-Identifier: BSD-3-Clause
#include "llm/sampling/portable_math.h"

#include <pteron/sampler.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pteron {
namespace {

constexpr f32 infinity = std::numeric_limits<f32>::infinity();

Sampler make(const SamplerOptions& options) {
  auto sampler = Sampler::create(options);
  EXPECT_TRUE(sampler.has_value()) << sampler.error().to_string();
  return std::move(*sampler);
}

SamplerOptions greedy() {
  SamplerOptions options;
  options.temperature = 0;
  return options;
}

TEST(Sampler, GreedyTakesTheBestAndTheLowestOfEquals) {
  auto sampler = make(greedy());
  const f32 logits[] = {1, 3, 3, 2};
  EXPECT_EQ(sampler.sample(logits)->token, 1u);
}

TEST(Sampler, SameSeedGivesTheSameTokensForEver) {
  // Numbers that any other build must give too.
  SamplerOptions options;
  options.seed = 42;
  options.top_p = 0.9f;
  auto sampler = make(options);
  const f32 logits[] = {0.5f, 1.5f, -0.25f, 1, 0, 2, -3, 0.75f};
  std::vector<u32> tokens;
  tokens.reserve(12);
  for (int i = 0; i < 12; ++i) tokens.push_back(sampler.sample(logits)->token);
  EXPECT_EQ(tokens, (std::vector<u32>{3, 5, 5, 5, 5, 7, 5, 7, 5, 1, 5, 1}));
  EXPECT_EQ(sampling::portable_uniform(42, 0), 0x1.7bae644c5fd6dp-1);
  EXPECT_EQ(sampling::portable_exp(-1.0), 0x1.78b56362cef38p-2);
}

TEST(Sampler, ExponentialIsWithinAUnitOfTheLastPlace) {
  f64 x = 0;
  while (x > -700) {
    const f64 exact = std::exp(x);
    EXPECT_NEAR(sampling::portable_exp(x), exact, exact * 3e-16) << x;
    x -= 0.37;
  }
  EXPECT_EQ(sampling::portable_exp(-1e9), 0);
  EXPECT_EQ(sampling::portable_exp(0), 1);
}

TEST(Sampler, RefusesLogitsThatAreNotNumbers) {
  auto sampler = make({});
  for (f32 bad : {infinity, std::numeric_limits<f32>::quiet_NaN()}) {
    const f32 logits[] = {1, bad, 2};
    const auto sample = sampler.sample(logits);
    ASSERT_FALSE(sample.has_value());
    EXPECT_NE(sample.error().message.find("token 1"), std::string::npos) << sample.error().message;
  }
}

TEST(Sampler, NeverChoosesATokenOfMinusInfinity) {
  auto sampler = make({});
  const f32 logits[] = {-infinity, 0, -infinity};
  for (int i = 0; i < 20; ++i) EXPECT_EQ(sampler.sample(logits)->token, 1u);
  const f32 nothing[] = {-infinity, -infinity};
  EXPECT_FALSE(sampler.sample(nothing).has_value());
  EXPECT_FALSE(sampler.sample(std::span<const f32>()).has_value());
}

TEST(Sampler, SurvivesExtremeLogitsAndTemperatures) {
  const f32 large = std::numeric_limits<f32>::max();
  const f32 logits[] = {large, -large, large, 0};
  for (f32 temperature : {1e-38f, 1e-3f, 1.f, 1e30f, large}) {
    SamplerOptions options;
    options.temperature = temperature;
    options.repetition_penalty = 2;
    auto sampler = make(options);
    for (int i = 0; i < 8; ++i) {
      const auto sample = sampler.sample(logits);
      ASSERT_TRUE(sample.has_value());
      sampler.accept(sample->token);
    }
  }
}

TEST(Sampler, MaskExcludesAlsoWhatLiesBehindIt) {
  auto sampler = make(greedy());
  std::vector<f32> logits(70, 0);
  logits[69] = 9;
  logits[5] = 1;
  const u64 mask[] = {~u64(0)};
  EXPECT_EQ(sampler.sample(logits, mask)->token, 5u);
  const u64 none[] = {0, 0};
  EXPECT_FALSE(sampler.sample(logits, none).has_value());
}

TEST(Sampler, PresenceAndFrequencyLookAtTheAnswerAlone) {
  SamplerOptions options = greedy();
  options.presence_penalty = 1;
  auto sampler = make(options);
  const u32 prompt[] = {0};
  sampler.add_prompt(prompt);
  const f32 logits[] = {1, 0.5f};
  EXPECT_EQ(sampler.sample(logits)->token, 0u);
  sampler.accept(0);
  EXPECT_EQ(sampler.sample(logits)->token, 1u);
  sampler.reset();
  EXPECT_EQ(sampler.sample(logits)->token, 0u);
}

TEST(Sampler, PromptAddedLaterKeepsTheCountsOfTheAnswer) {
  SamplerOptions options = greedy();
  options.frequency_penalty = 1;
  auto sampler = make(options);
  sampler.accept(0);
  sampler.accept(0);
  const u32 prompt[] = {0, 1, 0, 1};
  sampler.add_prompt(prompt);
  const f32 logits[] = {1.5f, 0};
  EXPECT_EQ(sampler.sample(logits)->token, 1u);  // 1.5 - 2 < 0
}

TEST(Sampler, CandidatesThatPenaltiesReorderedAreNotEnough) {
  SamplerOptions options = greedy();
  options.repetition_penalty = 10;
  auto sampler = make(options);
  const f32 logits[] = {5, 4};
  const i32 tokens[] = {7, 9};
  EXPECT_EQ((*sampler.sample(Candidates{logits, tokens}))->token, 7u);
  sampler.accept(7);
  EXPECT_EQ((*sampler.sample(Candidates{logits, tokens}))->token, 9u);
  sampler.accept(9);  // now a token behind the list may be the best
  EXPECT_FALSE(sampler.sample(Candidates{logits, tokens})->has_value());
}

TEST(Sampler, LogprobsOfCandidatesAreRelativeToTheWholeRow) {
  SamplerOptions options = greedy();
  options.logprobs = 2;
  auto sampler = make(options);
  const f32 row[] = {0, 3, 1, 2};
  const Sample whole = *sampler.sample(row);
  const f32 expected[] = {whole.logprob, whole.top[1].logprob};
  const f32 logits[] = {3, 2, 1};
  const i32 tokens[] = {1, 3, 2};
  const f32 sum = std::log(1 + std::exp(3.f) + std::exp(1.f) + std::exp(2.f));
  EXPECT_FALSE(sampler.sample(Candidates{logits, tokens})->has_value());
  const auto few = sampler.sample(Candidates{logits, tokens, sum});
  ASSERT_TRUE(few && *few);
  EXPECT_EQ((*few)->token, 1u);
  EXPECT_NEAR((*few)->logprob, expected[0], 1e-6);
  ASSERT_EQ((*few)->top.size(), 2u);
  EXPECT_EQ((*few)->top[1].token, 3u);
  EXPECT_NEAR((*few)->top[1].logprob, expected[1], 1e-6);
  options.logprobs = 4;  // more than there are
  EXPECT_FALSE(make(options).sample(Candidates{logits, tokens, sum})->has_value());
}

TEST(Sampler, RefusesCandidatesOutOfOrder) {
  auto sampler = make(greedy());
  const f32 rising[] = {1, 2}, equal[] = {1, 1}, one[] = {1};
  const i32 up[] = {3, 4}, down[] = {4, 3}, negative[] = {-1};
  EXPECT_FALSE(sampler.sample(Candidates{rising, up}).has_value());
  EXPECT_FALSE(sampler.sample(Candidates{equal, down}).has_value());
  EXPECT_FALSE(sampler.sample(Candidates{one, negative}).has_value());
  EXPECT_FALSE(sampler.sample(Candidates{one, up}).has_value());
  EXPECT_FALSE(sampler.sample(Candidates{}).has_value());
  EXPECT_TRUE(sampler.sample(Candidates{equal, up}).has_value());
}

TEST(Sampler, RefusesOptionsOutOfRangeAndNamesThem) {
  const auto refused = [](auto change, std::string_view name) {
    SamplerOptions options;
    change(options);
    const auto sampler = Sampler::create(options);
    ASSERT_FALSE(sampler.has_value()) << name;
    EXPECT_NE(sampler.error().message.find(name), std::string::npos) << sampler.error().message;
  };
  const f32 nan = std::numeric_limits<f32>::quiet_NaN();
  for (f32 bad : {-1.f, nan, infinity}) refused([&](auto& o) { o.temperature = bad; }, "temperature");
  for (f32 bad : {0.f, 1.5f, nan}) refused([&](auto& o) { o.top_p = bad; }, "top_p");
  for (f32 bad : {-0.5f, 1.5f, nan}) refused([&](auto& o) { o.min_p = bad; }, "min_p");
  for (f32 bad : {0.f, -2.f, nan}) refused([&](auto& o) { o.repetition_penalty = bad; }, "repetition_penalty");
  refused([&](auto& o) { o.presence_penalty = nan; }, "presence_penalty");
  refused([&](auto& o) { o.logit_bias = {{3, infinity}}; }, "token 3");
  refused([&](auto& o) { o.logprobs = 5000; }, "5000");
}

}  // namespace
}  // namespace pteron
