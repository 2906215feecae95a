// SPDX-License-Identifier: BSD-3-Clause
// Guesses of what comes next, from the text itself.
#pragma once

#include <pteron/types.h>

#include <span>
#include <vector>

namespace pteron {

// Looks for the place before that ended as the text does now, and says what stood behind it. Where guesses fail, it
// waits for longer matches: a run that verifies costs more than one that reads a token.
class Drafter {
 public:
  // With the token before them as many rows as the kernels for few rows take.
  static constexpr u32 most_tokens = 3;

  // At most so many tokens; often none.
  std::vector<u32> draft(std::span<const u32> text, u32 most) const;
  // So many of those that were drafted were right.
  void learn(u32 drafted, u32 held);

 private:
  static constexpr u32 shortest_match = 2, longest_match = 8;
  u32 needed_ = shortest_match;
};

}  // namespace pteron
