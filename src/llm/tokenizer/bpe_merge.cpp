// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/bpe.h"

#include <algorithm>

namespace pteron::tokenizer {

const MergeTable::Slot* Bpe::find_merge(u32 left, u32 right, Workspace& space) const {
  if (left >= frozen || right >= frozen) return nullptr;
  const MergeTable::Slot* merge = merges_.find(left, right);
  if (merge && has_unused_ && is(merge->result, PieceType::unused)) space.parts[merge->result] = {left, right};
  return merge;
}

void Bpe::rank_pair(Workspace& space, u32 left) const {
  auto& symbol = space.symbols[left];
  const auto* merge =
      left + 1 < space.symbols.size() ? find_merge(symbol.id, space.symbols[left + 1].id, space) : nullptr;
  symbol.rank = merge ? merge->rank : never;
  symbol.result = merge ? merge->result : 0;
}

// Looks at all pairs for each merge, which for a word is quicker than anything clever.
void Bpe::merge_few(Workspace& space) const {
  auto& symbols = space.symbols;
  for (u32 i = 0; i < symbols.size(); ++i) rank_pair(space, i);
  while (!symbols.empty()) {
    const auto best = std::ranges::min_element(symbols, {}, &Workspace::Symbol::rank);
    if (best->rank == never) return;
    best->id = best->result;
    symbols.erase(best + 1);
    const u32 at = u32(best - symbols.begin());
    rank_pair(space, at);
    if (at > 0) rank_pair(space, at - 1);
  }
}

void Bpe::queue_pair(Workspace& space, u32 left) const {
  if (left >= space.symbols.size()) return;
  const u32 right = space.neighbours[left].next;
  if (right >= space.symbols.size()) return;
  const u32 a = space.symbols[left].id, b = space.symbols[right].id;
  const MergeTable::Slot* merge = find_merge(a, b, space);
  if (!merge) return;
  space.queue.push_back({merge->rank, left, a, b, merge->result});
  std::push_heap(space.queue.begin(), space.queue.end());
}

// For a long piece: a heap of pairs and a linked list of symbols, so that time grows hardly more than its length.
void Bpe::merge_many(Workspace& space) const {
  auto& [symbols, neighbours, queue, parts, pending, after_unknown] = space;
  neighbours.clear();
  queue.clear();
  parts.clear();
  for (u32 i = 0; i < symbols.size(); ++i) neighbours.push_back({i - 1, i + 1});
  for (u32 i = 0; i + 1 < symbols.size(); ++i) queue_pair(space, i);
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end());
    const Workspace::Candidate best = queue.back();
    queue.pop_back();
    const u32 right = neighbours[best.at].next;
    // The pair may have changed since it was queued.
    if (symbols[best.at].id != best.left || right >= symbols.size() || symbols[right].id != best.right) continue;
    symbols[best.at].id = best.result;
    symbols[right].size = 0;  // merged away
    symbols[right].id = no_symbol;
    neighbours[best.at].next = neighbours[right].next;
    if (neighbours[right].next < symbols.size()) neighbours[neighbours[right].next].previous = best.at;
    queue_pair(space, neighbours[best.at].previous);
    queue_pair(space, best.at);
  }
  std::erase_if(symbols, [](const Workspace::Symbol& s) { return s.size == 0; });
}

}  // namespace pteron::tokenizer
