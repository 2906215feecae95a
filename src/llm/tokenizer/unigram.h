// SPDX-License-Identifier: BSD-3-Clause
// The unigram model: of all ways to write a piece in tokens, the one with the best sum of scores.
#pragma once

#include "llm/tokenizer/definition.h"
#include "llm/tokenizer/trie.h"

#include <array>

namespace pteron::tokenizer {

class Unigram {
 public:
  struct Workspace {
    // The best way to get to a place of the piece.
    struct Arrival {
      f64 score;
      u32 from, token;
    };
    std::vector<Arrival> best;
    u32 frontier = 0;  // the farthest place that was reached
    std::vector<u32> ends;
  };

  Unigram(const Vocabulary& vocabulary, const ModelData& model);

  Status encode(std::string_view piece, Workspace& space, std::vector<u32>& out) const;

 private:
  static constexpr u32 nothing = UINT32_MAX;

  f64 sum(f64 before, f64 score) const;
  f64 score_of(u32 token, u32 length) const;
  void offer(Workspace& space, u32 at, f64 score, u32 from, u32 token) const;
  void rebase(Workspace& space, u32 at) const;
  void search(std::string_view piece, Workspace& space) const;

  Trie trie_;
  std::vector<f64> scores_;
  std::vector<PieceType> types_;
  f64 lowest_ = 0;
  u32 unknown_;
  std::array<u32, 256> byte_tokens_{};
};

}  // namespace pteron::tokenizer
