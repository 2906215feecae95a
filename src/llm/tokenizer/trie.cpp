// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/trie.h"

#include <algorithm>

namespace pteron::tokenizer {

// Level by level: `groups` holds for each node of the last level which of the sorted entries run through it.
Trie Trie::build(std::vector<Entry> entries) {
  std::erase_if(entries, [](const Entry& e) { return e.text.empty(); });
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.text < b.text; });
  struct Group {
    u32 node, begin, end;
  };
  Trie out;
  out.roots_.fill(none);
  // Cuts entries [begin, end) by their byte at `depth` into new nodes.
  const auto cut = [&](u32 begin, u32 end, size_t depth, std::vector<Group>& groups) {
    while (begin < end) {
      const u8 byte = u8(entries[begin].text[depth]);
      u32 stop = begin;
      while (stop < end && u8(entries[stop].text[depth]) == byte) ++stop;
      groups.push_back({u32(out.nodes_.size()), begin, stop});
      out.nodes_.push_back({.byte = byte});
      begin = stop;
    }
  };
  std::vector<Group> level;
  cut(0, u32(entries.size()), 0, level);
  for (const Group& g : level) out.roots_[out.nodes_[g.node].byte] = g.node;
  for (size_t depth = 1; !level.empty(); ++depth) {
    std::vector<Group> below;
    for (Group g : level) {
      if (entries[g.begin].text.size() == depth) out.nodes_[g.node].value = entries[g.begin].value;
      while (g.begin < g.end && entries[g.begin].text.size() == depth) ++g.begin;
      out.nodes_[g.node].first_child = u32(out.nodes_.size());
      cut(g.begin, g.end, depth, below);
      out.nodes_[g.node].children = u16(out.nodes_.size() - out.nodes_[g.node].first_child);
    }
    level = std::move(below);
  }
  return out;
}

u32 Trie::child(u32 node, u8 byte) const {
  const auto begin = nodes_.begin() + nodes_[node].first_child;
  const auto end = begin + nodes_[node].children;
  const auto it = std::lower_bound(begin, end, byte, [](const Node& n, u8 b) { return n.byte < b; });
  return it != end && it->byte == byte ? u32(it - nodes_.begin()) : none;
}

}  // namespace pteron::tokenizer
