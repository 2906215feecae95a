// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "llm/tokenizer/definition.h"

namespace pteron::tokenizer {

// A SentencePiece model, from its own file or from a GGUF's metadata.
struct SentencePieceModel {
  struct Piece {
    std::string text;
    f32 score = 0;
    PieceType type = PieceType::normal;
  };
  std::vector<Piece> pieces;
  bool unigram = false;
  bool byte_fallback = false;
  SentencePieceRules rules;
  Roles roles;
  bool add_bos = true, add_eos = false;
};

Result<Definition> define(const SentencePieceModel& model);

}  // namespace pteron::tokenizer
