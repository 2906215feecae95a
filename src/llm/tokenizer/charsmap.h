// SPDX-License-Identifier: BSD-3-Clause
// SentencePiece's table of replacements: a double-array trie of what to replace and the texts to put there.
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace pteron::tokenizer {

class Charsmap {
 public:
  // No bytes are a table without entries.
  static Result<Charsmap> parse(std::string_view bytes);

  struct Match {
    u32 length = 0;  // 0: nothing to replace
    std::string_view replacement;
  };
  // The longest entry that stands at `at`.
  Match longest(std::string_view text, size_t at) const;

 private:
  std::vector<u32> units_;
  std::string texts_;  // each ends with a zero
};

}  // namespace pteron::tokenizer
