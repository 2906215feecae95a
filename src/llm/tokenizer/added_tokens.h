// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "llm/tokenizer/definition.h"
#include "llm/tokenizer/normalizer.h"
#include "llm/tokenizer/trie.h"

namespace pteron::tokenizer {

// Finds added tokens in a text.
class AddedTokens {
 public:
  struct Part {
    u32 begin, end;
    std::optional<u32> token;
  };

  // Those that are looked for in normalized text, or those that are looked for in the text as it is.
  static Result<AddedTokens> build(const Definition& definition, const Normalizer& normalizer, bool normalized);

  bool empty() const { return trie_.empty(); }
  // The whole text: tokens, and parts without one. Special tokens are only text if they are not wanted.
  std::vector<Part> split(std::string_view text, bool special) const;
  // A token's text as it is looked for, if it is one of these.
  std::optional<std::string_view> text(u32 id) const;

 private:
  bool inside_word(std::string_view text, u32 begin, u32 end) const;

  std::vector<AddedToken> tokens_;
  std::vector<std::string> texts_;  // as they are looked for
  Trie trie_;                       // of places in tokens_
  CharTable word_{CharSet()};
};

}  // namespace pteron::tokenizer
