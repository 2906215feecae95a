// SPDX-License-Identifier: BSD-3-Clause
// The model of BERT: a word is cut from its start into the longest tokens there are.
#pragma once

#include "llm/tokenizer/definition.h"

namespace pteron::tokenizer {

class WordPiece {
 public:
  // Both must outlive it.
  WordPiece(const Vocabulary& vocabulary, const ModelData& model) : vocabulary_(vocabulary), model_(model) {}

  // A word that can't be written in tokens becomes the unknown one.
  Status encode(std::string_view word, std::vector<u32>& out) const;

 private:
  bool cut(std::string_view word, std::vector<u32>& out) const;

  const Vocabulary& vocabulary_;
  const ModelData& model_;
};

}  // namespace pteron::tokenizer
