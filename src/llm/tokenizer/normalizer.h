// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "llm/tokenizer/charsmap.h"
#include "llm/tokenizer/definition.h"
#include "llm/tokenizer/pattern.h"
#include "llm/tokenizer/trie.h"

#include <memory>

namespace pteron::tokenizer {

// What happens to the text before it is cut into pieces.
class Normalizer {
 public:
  static Result<Normalizer> build(const Definition& definition);

  bool empty() const { return steps_.empty(); }
  Result<std::string> run(std::string_view text) const;

 private:
  struct RegexReplace {
    Pattern pattern;
    std::string with;
  };
  struct SentencePiece {
    SentencePieceRules rules;
    Charsmap charsmap;
    Trie spared;  // user-defined pieces
    std::string run(std::string_view text) const;
    struct Step {
      std::string_view text;
      u32 taken;
    };
    Step next(std::string_view text, size_t at) const;
  };
  using Step = std::variant<NormalForm, Lowercase, Strip, Prepend, Replace, RegexReplace, BertText, SentencePiece>;
  static Result<Step> build_step(const NormalizerStep& step, const Definition& definition);

  std::vector<Step> steps_;
};

std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

}  // namespace pteron::tokenizer
