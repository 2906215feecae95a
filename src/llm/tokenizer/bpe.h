// SPDX-License-Identifier: BSD-3-Clause
// Byte-pair encoding: starts with single characters (or bytes) and merges neighbours, the best pair first.
#pragma once

#include "llm/tokenizer/definition.h"
#include "llm/tokenizer/trie.h"

#include <array>
#include <unordered_map>

namespace pteron::llm {

// Which pairs merge into what.
class MergeTable {
 public:
  struct Slot {
    u32 left = empty, right = empty;
    u32 rank = 0, result = 0;
  };

  MergeTable() = default;
  explicit MergeTable(std::span<const Merge> merges);

  const Slot* find(u32 left, u32 right) const {
    for (size_t i = place(left, right);; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.left == left && slot.right == right) return &slot;
      if (slot.left == empty) return nullptr;
    }
  }

 private:
  static constexpr u32 empty = UINT32_MAX;
  size_t place(u32 left, u32 right) const {
    const u64 key = (u64(left) << 32 | right) * 0x9E3779B97F4A7C15u;
    return size_t(key >> 32) & mask_;
  }
  std::vector<Slot> slots_{1};
  size_t mask_ = 0;
};

class Bpe {
 public:
  // Memory that is used again for the next piece.
  struct Workspace {
    struct Symbol {
      u32 id;
      u32 begin;
      u32 previous, next;
    };
    struct Candidate {
      u32 rank, at, left, right, result;
      // For a heap with the best on top: the lowest rank, then the leftmost.
      bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
    };
    std::vector<Symbol> symbols;
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
  // Marks pieces that the user defined. They are never merged, and so is no_symbol.
  static constexpr u32 frozen = 1u << 31;

  void start(std::string_view piece, Workspace& space) const;
  u32 symbol_of(std::string_view character) const;
  void consider(Workspace& space, u32 left) const;
  void merge(Workspace& space) const;
  void finish(std::string_view piece, Workspace& space, std::vector<u32>& out) const;
  void put(u32 id, Workspace& space, std::vector<u32>& out) const;
  void put_unknown(std::string_view character, Workspace& space, std::vector<u32>& out) const;
  bool is(u32 id, PieceType type) const { return id < types_.size() && types_[id] == type; }

  const Vocabulary* vocabulary_;
  MergeTable merges_;
  std::vector<PieceType> types_;
  bool has_unused_ = false;
  bool of_bytes_, fuse_unknown_, ignore_merges_;
  std::array<u32, 256> byte_symbols_{};  // of_bytes
  std::array<u32, 256> byte_tokens_{};   // byte fallback
  Vocabulary spelled_;                   // of_bytes and ignore_merges: tokens by their bytes
  Trie user_defined_;
  Vocabulary loose_;  // numbered from the end of the vocabulary on
  std::optional<u32> unknown_;
};

}  // namespace pteron::llm
