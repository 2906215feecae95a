// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/merge_table.h"

#include <bit>

namespace pteron::tokenizer {

MergeTable::MergeTable(std::span<const Merge> merges) {
  slots_.resize(std::bit_ceil(merges.size() * 2 + 1));
  mask_ = slots_.size() - 1;
  for (const Merge& m : merges) {
    size_t i = place(m.left, m.right);
    while (slots_[i].left != empty && (slots_[i].left != m.left || slots_[i].right != m.right)) i = (i + 1) & mask_;
    slots_[i] = {m.left, m.right, m.rank, m.result};  // of two equal pairs the later one counts
  }
}

}  // namespace pteron::tokenizer
