// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/types.h>

#include <array>
#include <string_view>
#include <vector>

namespace pteron::tokenizer {

// Finds which of many texts stand at a place of another one. Children of a node are neighbours, sorted by their byte.
class Trie {
 public:
  static constexpr u32 none = UINT32_MAX;
  struct Entry {
    std::string_view text;
    u32 value;
  };

  // Of equal texts the first counts; empty ones are ignored.
  static Trie build(std::vector<Entry> entries);

  bool empty() const { return nodes_.empty(); }

  // Calls visit(length, value) for each text that stands at `at`, the shortest first.
  template <class Visit>
  void prefixes(std::string_view text, size_t at, Visit&& visit) const {
    if (at >= text.size() || nodes_.empty()) return;
    u32 node = roots_[u8(text[at])];
    for (u32 length = 1; node != none; ++length) {
      if (nodes_[node].value != none) visit(length, nodes_[node].value);
      if (at + length == text.size()) return;
      node = child(node, u8(text[at + length]));
    }
  }

  struct Match {
    u32 length = 0, value = none;
  };
  // The longest text that stands at `at`; its length is 0 if there is none.
  Match longest(std::string_view text, size_t at) const {
    Match out;
    prefixes(text, at, [&](u32 length, u32 value) { out = {length, value}; });
    return out;
  }

 private:
  struct Node {
    u32 value = none;
    u32 first_child = 0;
    u16 children = 0;
    u8 byte = 0;
  };
  u32 child(u32 node, u8 byte) const;

  std::array<u32, 256> roots_{};
  std::vector<Node> nodes_;
};

}  // namespace pteron::tokenizer
