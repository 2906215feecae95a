// SPDX-License-Identifier: BSD-3-Clause
#include "llm/draft.h"

#include <algorithm>

namespace pteron {

std::vector<u32> Drafter::draft(std::span<const u32> text, u32 most) const {
  most = std::min(most, most_tokens);
  const size_t size = text.size();
  size_t longest = 0, place = 0;  // the last one, if several are as long
  for (size_t end = size; end-- > 1 && longest < longest_match && most > 0;) {
    size_t length = 0;
    while (length < std::min<size_t>(end, longest_match) && text[end - 1 - length] == text[size - 1 - length]) ++length;
    if (length > longest) longest = length, place = end;
  }
  std::vector<u32> out;
  if (longest < needed_) return out;
  // Behind the end of the text the guess goes on with itself.
  while (out.size() < most) {
    const size_t from = place + out.size();
    out.push_back(from < size ? text[from] : out[from - size]);
  }
  return out;
}

void Drafter::learn(u32 drafted, u32 held) {
  if (held == drafted)
    needed_ = std::max(needed_ - 1, shortest_match);
  else if (held == 0)
    needed_ = std::min(needed_ + 1, longest_match);
}

}  // namespace pteron
