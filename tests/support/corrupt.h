// SPDX-License-Identifier: BSD-3-Clause
// Ways to break a file, reproducibly.
#pragma once

#include <pteron/types.h>

#include <functional>
#include <random>
#include <vector>

namespace pteron::test {

using File = std::vector<std::byte>;

// Calls `use` with `count` broken copies: flipped bits, overwritten words (small numbers, −1, extremes), cut tails.
inline void for_each_corruption(const File& file, u32 count, u32 seed, const std::function<void(const File&)>& use) {
  static constexpr u32 words[] = {0,     1,      2,       3,          7,          0x7F,       0xFF,
                                  0x100, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF};
  std::mt19937 random(seed);
  for (u32 i = 0; i < count; ++i) {
    File broken = file;
    const u32 edits = 1 + random() % 3;
    for (u32 e = 0; e < edits; ++e) {
      const size_t at = random() % broken.size();
      switch (random() % 4) {
        case 0: broken[at] ^= std::byte(1u << random() % 8); break;
        case 1: broken[at] = std::byte(random()); break;
        case 2: {
          const u32 word = words[random() % std::size(words)];
          for (size_t b = 0; b < 4 && at / 4 * 4 + b < broken.size(); ++b)
            broken[at / 4 * 4 + b] = std::byte(word >> 8 * b);
          break;
        }
        case 3:
          if (random() % 8 == 0) broken.resize(std::max<size_t>(at, 1));
          break;
      }
    }
    use(broken);
  }
}

}  // namespace pteron::test
