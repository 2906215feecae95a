// SPDX-License-Identifier: BSD-3-Clause
// The filters behind Sampler, on a list of tokens that are still possible.
#pragma once

#include <pteron/sampler.h>

namespace pteron::sampling {

struct Candidate {
  f64 logit = 0;
  u32 token = 0;
  f64 weight = 0;  // in proportion to the probability; the best has 1
};
using CandidateList = std::vector<Candidate>;

// Better, or as good with a lower number.
inline bool comes_before(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

Status check_order(const Candidates& candidates);

// The k best, best first.
void keep_best(CandidateList& list, size_t k);
// Sets the weights and returns their sum. The list must not be empty.
f64 weigh(CandidateList& list);
// The shortest run of the best that has at least `p` of the weight, best first. Returns the sum of its weights.
f64 keep_probable(CandidateList& list, f64 p, f64 total);
// Those of at least `minimum` times the best one's weight. Returns the sum of their weights.
f64 keep_heavy(CandidateList& list, f64 minimum);
// The token at `point` of the list's weights laid end to end.
u32 draw(const CandidateList& list, f64 point);

}  // namespace pteron::sampling
