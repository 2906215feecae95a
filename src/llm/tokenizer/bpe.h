// SPDX-License-Identifier: BSD-3-Clause
// Byte-pair encoding: starts with single characters (or bytes) and merges neighbours, the best pair first.
#pragma once

#include "llm/tokenizer/merge_table.h"
#include "llm/tokenizer/trie.h"

#include <array>
#include <unordered_map>

namespace pteron::tokenizer {

class Bpe {
 public:
  // Memory that is used again for the next piece.
  struct Workspace {
    struct Symbol {
      u32 id;
      u32 begin, size;   // of the character that it started with
      u32 rank, result;  // of the merge with the next symbol
    };
    struct Neighbours {
      u32 previous, next;
    };
    struct Candidate {
      u32 rank, at, left, right, result;
      // For a heap with the best on top: the lowest rank, then the leftmost.
      bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
    };
    std::vector<Symbol> symbols;
    std::vector<Neighbours> neighbours;
    std::vector<Candidate> queue;
    std::unordered_map<u32, std::pair<u32, u32>> parts;  // what a piece that must not be used was made of
    std::vector<u32> pending;
    bool after_unknown = false;
  };

  // `of_bytes`: pieces are bytes, the vocabulary spells them in the byte alphabet.
  Bpe(const Vocabulary& vocabulary, const ModelData& model, bool of_bytes);

  void encode(std::string_view piece, Workspace& space, std::vector<u32>& out) const;

 private:
  static constexpr u32 no_symbol = UINT32_MAX;
  static constexpr u32 never = UINT32_MAX;  // as a rank
  // Marks pieces that the user defined. They are never merged, and neither is no_symbol.
  static constexpr u32 frozen = 1u << 31;

  void add_joints(const ModelData& model);
  Workspace::Symbol symbol_at(std::string_view piece, u32 at) const;
  u32 symbol_of(std::string_view character) const;
  const MergeTable::Slot* find_merge(u32 left, u32 right, Workspace& space) const;

  // Merge what is in the workspace and leave what remains there.
  void merge_few(Workspace& space) const;
  void merge_many(Workspace& space) const;
  void rank_pair(Workspace& space, u32 left) const;
  void queue_pair(Workspace& space, u32 left) const;

  void finish(std::string_view piece, Workspace& space, std::vector<u32>& out) const;
  void put(u32 id, Workspace& space, std::vector<u32>& out) const;
  void put_unknown(std::string_view character, Workspace& space, std::vector<u32>& out) const;
  bool can_spell(std::string_view character) const;
  bool is(u32 id, PieceType type) const { return id < types_.size() && types_[id] == type; }

  const Vocabulary* vocabulary_;
  MergeTable merges_;
  Joints joints_;
  std::vector<PieceType> types_;
  bool has_unused_;
  bool of_bytes_, fuse_unknown_, ignore_merges_;
  std::array<u32, 256> byte_symbols_{};  // of_bytes
  std::array<u32, 256> byte_tokens_{};   // byte fallback
  Vocabulary spelled_;                   // of_bytes and ignore_merges: tokens by their bytes
  Trie user_defined_;
  Vocabulary loose_;  // numbered from the end of the vocabulary on
  std::optional<u32> unknown_;
};

}  // namespace pteron::tokenizer
