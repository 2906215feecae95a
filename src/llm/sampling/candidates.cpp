// SPDX-License-Identifier: BSD-3-Clause
#include "llm/sampling/candidates.h"

#include "base/error.h"
#include "llm/sampling/portable_math.h"

#include <algorithm>

namespace pteron::sampling {
namespace {

// Puts the best of what stands behind `from` at `from`, in order, `count` of them.
void sort_best(CandidateList& list, size_t from, size_t count) {
  const auto first = list.begin() + i64(from);
  const auto middle = first + i64(std::min(count, list.size() - from));
  if (middle != list.end()) std::nth_element(first, middle, list.end(), comes_before);
  std::sort(first, middle, comes_before);
}

f64 sum_of_weights(const CandidateList& list) {
  f64 sum = 0;
  for (const Candidate& c : list) sum += c.weight;
  return sum;
}

}  // namespace

Status check_order(const Candidates& candidates) {
  const auto& logits = candidates.logits;
  const auto& tokens = candidates.tokens;
  if (logits.empty() || logits.size() != tokens.size())
    return invalid("a list of ", logits.size(), " logits and ", tokens.size(), " tokens is no list of candidates");
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0) return invalid("candidate ", i, " is token ", tokens[i], "; tokens are not negative");
    if (i == 0) continue;
    const Candidate before{logits[i - 1], u32(tokens[i - 1])}, after{logits[i], u32(tokens[i])};
    if (!comes_before(before, after))
      return invalid("candidate ", i, " (token ", tokens[i], ", logit ", logits[i],
                     ") is not behind the one before it (token ", tokens[i - 1], ", logit ", logits[i - 1], ")");
  }
  return {};
}

void keep_best(CandidateList& list, size_t k) {
  sort_best(list, 0, k);
  if (k < list.size()) list.resize(k);
}

f64 weigh(CandidateList& list) {
  const f64 best = std::ranges::min_element(list, comes_before)->logit;
  for (Candidate& c : list) c.weight = portable_exp(c.logit - best);
  return sum_of_weights(list);
}

f64 keep_probable(CandidateList& list, f64 p, f64 total) {
  f64 sum = 0;
  size_t kept = 0, sorted = 0;
  // Most often few tokens hold the probability: sort in growing pieces.
  for (size_t piece = 64; kept < list.size() && sum < p * total; ++kept) {
    if (kept == sorted) {
      sort_best(list, sorted, piece);
      sorted += piece;
      piece *= 4;
    }
    sum += list[kept].weight;
  }
  list.resize(kept);
  return sum;
}

f64 keep_heavy(CandidateList& list, f64 minimum) {
  std::erase_if(list, [&](const Candidate& c) { return c.weight < minimum; });
  return sum_of_weights(list);
}

u32 draw(const CandidateList& list, f64 point) {
  f64 sum = 0;
  const Candidate* chosen = list.data();
  for (const Candidate& c : list) {
    if (c.weight == 0) continue;
    chosen = &c;
    sum += c.weight;
    if (point < sum) break;
  }
  return chosen->token;
}

}  // namespace pteron::sampling
