// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "llm/tokenizer/definition.h"

namespace pteron::tokenizer {

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
    return size_t((u64(left) << 32 | right) * 0x9E3779B97F4A7C15u >> 32) & mask_;
  }
  std::vector<Slot> slots_{1};
  size_t mask_ = 0;
};

// Between which characters a merge can happen at all; sometimes it says yes where none can.
class Joints {
 public:
  Joints() : bits_(size / 64) {}
  void add(u32 left, u32 right) { bits_[place(left, right) / 64] |= u64(1) << place(left, right) % 64; }
  bool contains(u32 left, u32 right) const { return bits_[place(left, right) / 64] >> place(left, right) % 64 & 1; }

 private:
  static constexpr u32 size = 1u << 20;
  static u32 place(u32 left, u32 right) { return (left * 0x9E3779B1u ^ right * 0x85EBCA77u) >> 12; }
  std::vector<u64> bits_;
};

}  // namespace pteron::tokenizer
