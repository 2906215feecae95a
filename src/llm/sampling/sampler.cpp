// SPDX-License-Identifier: BSD-3-Clause
#include <pteron/sampler.h>

#include "base/error.h"
#include "llm/sampling/candidates.h"
#include "llm/sampling/portable_math.h"

#include <algorithm>
#include <cmath>

namespace pteron {

using namespace sampling;

namespace {

constexpr u32 max_logprobs = 256;

Status check(const SamplerOptions& o) {
  const auto finite = [](f32 x) { return std::isfinite(x); };
  if (!finite(o.temperature) || o.temperature < 0)
    return invalid("temperature is ", o.temperature, "; it must be 0 (greedy) or a positive number");
  if (!(o.top_p > 0 && o.top_p <= 1)) return invalid("top_p is ", o.top_p, "; it must be above 0 and at most 1");
  if (!(o.min_p >= 0 && o.min_p <= 1)) return invalid("min_p is ", o.min_p, "; it must be from 0 to 1");
  if (!finite(o.repetition_penalty) || o.repetition_penalty <= 0)
    return invalid("repetition_penalty is ", o.repetition_penalty, "; it must be a positive number");
  if (!finite(o.presence_penalty) || !finite(o.frequency_penalty))
    return invalid("presence_penalty is ", o.presence_penalty, " and frequency_penalty ", o.frequency_penalty,
                   "; both must be finite");
  for (const TokenBias& b : o.logit_bias)
    if (!finite(b.bias)) return invalid("the logit bias of token ", b.token, " is ", b.bias, "; it must be finite");
  if (o.logprobs.value_or(0) > max_logprobs)
    return invalid("logprobs of ", *o.logprobs, " tokens are asked for; at most ", max_logprobs, " are reported");
  return {};
}

bool allows(TokenMask mask, u32 token) {
  return mask.empty() || (token / 64 < mask.size() && (mask[token / 64] >> token % 64 & 1));
}

Status check_logit(f32 logit, u64 token) {
  if (logit <= std::numeric_limits<f32>::max()) [[likely]]
    return {};
  return invalid("the logit of token ", token, " is ", logit,
                 "; the model's output is broken (try it in 32-bit precision)");
}

}  // namespace

struct Sampler::Impl {
  struct Seen {
    u32 token = 0;
    u32 count = 0;  // in the answer
  };

  explicit Impl(SamplerOptions o) : options(std::move(o)) {}

  Seen* find(u32 token) {
    const auto at = std::ranges::lower_bound(seen, token, {}, &Seen::token);
    return at != seen.end() && at->token == token ? &*at : nullptr;
  }
  f64 penalised(f64 logit, const Seen& s) const {
    logit = logit > 0 ? logit / options.repetition_penalty : logit * options.repetition_penalty;
    if (s.count == 0) return logit;
    return logit - options.presence_penalty - f64(s.count) * options.frequency_penalty;
  }
  // Whether no token can end higher than it started.
  bool only_lowers() const {
    return options.repetition_penalty >= 1 && options.presence_penalty >= 0 && options.frequency_penalty >= 0 &&
           std::ranges::all_of(options.logit_bias, [](const TokenBias& b) { return b.bias <= 0; });
  }
  Status collect(std::span<const f32> logits, TokenMask allowed);
  Status collect(const Candidates& candidates, TokenMask allowed);
  Result<u32> choose();
  void report(Sample& sample, std::span<const f32> logits);
  void report(Sample& sample, const Candidates& candidates);

  SamplerOptions options;
  std::vector<Seen> seen;  // by token
  u64 draws = 0;
  // Kept between calls so that a step allocates nothing.
  std::vector<f64> row;
  CandidateList kept;
  std::vector<TokenLogprob> top;
};

// Steps 1 to 5 for a whole row.
Status Sampler::Impl::collect(std::span<const f32> logits, TokenMask allowed) {
  row.resize(logits.size());
  for (size_t t = 0; t < logits.size(); ++t) {
    TRY_DO(check_logit(logits[t], t));
    row[t] = logits[t];
  }
  for (const Seen& s : seen)
    if (s.token < row.size()) row[s.token] = penalised(row[s.token], s);
  for (const TokenBias& b : options.logit_bias)
    if (b.token < row.size()) row[b.token] += b.bias;
  kept.clear();
  for (u32 t = 0; t < row.size(); ++t)
    if (row[t] > -INFINITY && allows(allowed, t)) kept.push_back({row[t], t});
  return {};
}

// The same for a list.
Status Sampler::Impl::collect(const Candidates& candidates, TokenMask allowed) {
  kept.clear();
  for (size_t i = 0; i < candidates.logits.size(); ++i) {
    TRY_DO(check_logit(candidates.logits[i], u64(candidates.tokens[i])));
    Candidate c{candidates.logits[i], u32(candidates.tokens[i])};
    if (const Seen* s = find(c.token)) c.logit = penalised(c.logit, *s);
    for (const TokenBias& b : options.logit_bias)
      if (b.token == c.token) c.logit += b.bias;
    if (c.logit > -INFINITY && allows(allowed, c.token)) kept.push_back(c);
  }
  return {};
}

// Steps 6 to 10.
Result<u32> Sampler::Impl::choose() {
  if (kept.empty()) return invalid("no token can be chosen: all are excluded by their logits, the bias or the mask");
  if (options.temperature == 0) return std::ranges::min_element(kept, comes_before)->token;
  for (Candidate& c : kept) c.logit /= options.temperature;
  if (options.top_k > 0) keep_best(kept, options.top_k);
  f64 total = weigh(kept);
  if (options.top_p < 1) total = keep_probable(kept, options.top_p, total);
  if (options.min_p > 0) total = keep_heavy(kept, options.min_p);
  return draw(kept, portable_uniform(options.seed, draws++) * total);
}

void Sampler::Impl::report(Sample& sample, std::span<const f32> logits) {
  if (!options.logprobs) return;
  kept.clear();
  for (u32 t = 0; t < logits.size(); ++t) kept.push_back({logits[t], t});
  const f64 best = std::ranges::min_element(kept, comes_before)->logit;
  const f64 normaliser = best + std::log(weigh(kept));
  sample.logprob = f32(logits[sample.token] - normaliser);
  keep_best(kept, std::min<size_t>(*options.logprobs, kept.size()));
  top.clear();
  for (const Candidate& c : kept) top.push_back({c.token, f32(c.logit - normaliser)});
  sample.top = top;
}

// The sampled token is one of the candidates.
void Sampler::Impl::report(Sample& sample, const Candidates& candidates) {
  if (!options.logprobs) return;
  top.clear();
  for (size_t i = 0; i < candidates.logits.size(); ++i) {
    const TokenLogprob entry{u32(candidates.tokens[i]), candidates.logits[i] - *candidates.log_sum_exp};
    if (entry.token == sample.token) sample.logprob = entry.logprob;
    if (i < *options.logprobs) top.push_back(entry);
  }
  sample.top = top;
}

Result<Sampler> Sampler::create(SamplerOptions options) {
  TRY_DO(check(options));
  return Sampler(std::make_unique<Impl>(std::move(options)));
}

Sampler::Sampler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Sampler::Sampler(Sampler&&) noexcept = default;
Sampler& Sampler::operator=(Sampler&&) noexcept = default;
Sampler::~Sampler() = default;

const SamplerOptions& Sampler::options() const { return impl_->options; }

void Sampler::add_prompt(std::span<const u32> tokens) {
  auto& seen = impl_->seen;
  for (u32 token : tokens) seen.push_back({token, 0});
  // Of a token's entries the one with the count comes first and stays.
  std::ranges::sort(
      seen, [](const auto& a, const auto& b) { return a.token != b.token ? a.token < b.token : a.count > b.count; });
  const auto extra = std::ranges::unique(seen, {}, &Impl::Seen::token);
  seen.erase(extra.begin(), extra.end());
}

void Sampler::accept(u32 token) {
  if (auto* s = impl_->find(token)) {
    ++s->count;
    return;
  }
  auto& seen = impl_->seen;
  seen.insert(std::ranges::lower_bound(seen, token, {}, &Impl::Seen::token), {token, 1});
}

void Sampler::take_up(std::span<const u32> answer) {
  for (u32 token : answer) accept(token);
  if (impl_->options.temperature > 0) impl_->draws += answer.size();
}

void Sampler::reset() {
  impl_->seen.clear();
  impl_->draws = 0;
}

Result<Sample> Sampler::sample(std::span<const f32> logits, TokenMask allowed) {
  TRY_DO(impl_->collect(logits, allowed));
  Sample sample;
  TRY(sample.token, impl_->choose());
  impl_->report(sample, logits);
  return sample;
}

Result<std::optional<Sample>> Sampler::sample(const Candidates& candidates, TokenMask allowed) {
  const auto& options = impl_->options;
  TRY_DO(check_order(candidates));
  const size_t needed = options.temperature == 0 ? 1 : options.top_k;
  if (needed == 0 || needed > candidates.logits.size() || !impl_->only_lowers()) return std::nullopt;
  if (options.logprobs && (!candidates.log_sum_exp || *options.logprobs > candidates.logits.size()))
    return std::nullopt;
  TRY_DO(impl_->collect(candidates, allowed));
  // Tokens outside of the list stand behind its last one, and can only fall further.
  keep_best(impl_->kept, needed);
  const Candidate last{candidates.logits.back(), u32(candidates.tokens.back())};
  if (impl_->kept.size() < needed || comes_before(last, impl_->kept.back())) return std::nullopt;
  Sample sample;
  TRY(sample.token, impl_->choose());
  impl_->report(sample, candidates);
  return sample;
}

}  // namespace pteron
