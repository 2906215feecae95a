// SPDX-License-Identifier: BSD-3-Clause
// Choosing the next token from a model's logits.
//
// Order of operations, each on the result of the one before:
//   1. the logits are checked: NaN and +infinity are errors, -infinity excludes a token
//   2. repetition penalty, for each token of the prompt or the answer: l / penalty if l > 0, else l * penalty
//   3. presence and frequency penalty, for each token of the answer: l - presence - count * frequency
//   4. logit bias is added
//   5. tokens outside of the mask are excluded
//   6. temperature 0: the best token is the answer (the lowest of equals). Otherwise l / temperature
//   7. top-k keeps the k best
//   8. top-p keeps a token if the ones before it, best first, have less than p of the probability
//   9. min-p keeps a token if it has at least min_p times the probability of the best
//  10. one token is drawn in proportion
// Log-probabilities are those of the model, before all of this.
//
// The same seed gives the same tokens on every platform: the random numbers, the exponential and the order of every sum
// are defined here and not by a system's library.
//
//   auto sampler = pteron::Sampler::create({.temperature = 0.8f, .top_p = 0.95f, .seed = 7});
//   sampler->add_prompt(prompt);
//   const u32 token = sampler->sample(logits)->token;
//   sampler->accept(token);
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pteron {

struct TokenBias {
  u32 token = 0;
  f32 bias = 0;
};

struct SamplerOptions {
  f32 temperature = 1;
  u32 top_k = 0;  // 0: all
  f32 top_p = 1;
  f32 min_p = 0;
  f32 repetition_penalty = 1;
  f32 presence_penalty = 0;
  f32 frequency_penalty = 0;
  std::vector<TokenBias> logit_bias;
  u64 seed = 0;
  std::optional<u32> logprobs;  // report the token's log-probability and those of this many best tokens
};

struct TokenLogprob {
  u32 token = 0;
  f32 logprob = 0;
};

struct Sample {
  u32 token = 0;
  // With SamplerOptions::logprobs. The span is valid until the next call.
  f32 logprob = 0;
  std::span<const TokenLogprob> top;  // best first
};

// Bit t of word t / 64 is set if token t may be chosen. Empty: every token may.
using TokenMask = std::span<const u64>;

// The first K entries of a row of logits that is sorted best first, the lower token first among equals.
struct Candidates {
  std::span<const f32> logits;
  std::span<const i32> tokens;
  std::optional<f32> log_sum_exp;  // of the whole row: a logit minus this is its log-probability
};

class Sampler {
 public:
  static Result<Sampler> create(SamplerOptions options);
  Sampler(Sampler&&) noexcept;
  Sampler& operator=(Sampler&&) noexcept;
  ~Sampler();

  const SamplerOptions& options() const;

  // Tokens that penalties know of: repetition looks at both, presence and frequency at the answer.
  void add_prompt(std::span<const u32> tokens);
  void accept(u32 token);
  // Goes on behind an answer that was begun elsewhere, as if its tokens had been drawn here.
  void take_up(std::span<const u32> answer);
  // Forgets all tokens and starts the random numbers again.
  void reset();

  // Chooses, but does not accept.
  Result<Sample> sample(std::span<const f32> logits, TokenMask allowed = {});
  // The same answer as from the whole row, or nothing if the candidates do not determine it.
  Result<std::optional<Sample>> sample(const Candidates& candidates, TokenMask allowed = {});

 private:
  struct Impl;
  explicit Sampler(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pteron
