// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/bpe.h"

#include "llm/tokenizer/byte_alphabet.h"
#include "llm/tokenizer/utf8.h"

#include <algorithm>
#include <bit>

namespace pteron::llm {

MergeTable::MergeTable(std::span<const Merge> merges) {
  slots_.resize(std::bit_ceil(merges.size() * 2 + 1));
  mask_ = slots_.size() - 1;
  for (const Merge& m : merges) {
    size_t i = place(m.left, m.right);
    while (slots_[i].left != empty && (slots_[i].left != m.left || slots_[i].right != m.right)) i = (i + 1) & mask_;
    slots_[i] = {m.left, m.right, m.rank, m.result};  // of two equal pairs the later one counts
  }
}

Bpe::Bpe(const Vocabulary& vocabulary, const ModelData& model, bool of_bytes)
    : vocabulary_(&vocabulary),
      merges_(model.merges),
      types_(model.types),
      has_unused_(std::ranges::count(model.types, PieceType::unused) > 0),
      of_bytes_(of_bytes),
      fuse_unknown_(model.fuse_unknown),
      ignore_merges_(model.ignore_merges),
      unknown_(model.unknown) {
  for (u32 i = 0; i < model.loose.size(); ++i) (void)loose_.add(i, model.loose[i]);  // the reader made them unique
  for (u32 b = 0; b < 256; ++b) {
    byte_tokens_[b] = model.byte_fallback ? vocabulary.find_byte(u8(b)).value_or(no_symbol) : no_symbol;
    byte_symbols_[b] = symbol_of(bytes_to_letters(std::string(1, char(b))));
  }
  std::vector<Trie::Entry> frozen_pieces;
  for (u32 id = 0; id < types_.size(); ++id)
    if (types_[id] == PieceType::user_defined) frozen_pieces.push_back({vocabulary.text(id), id});
  user_defined_ = Trie::build(std::move(frozen_pieces));
  if (of_bytes && ignore_merges_)
    for (u32 id = 0; id < vocabulary.size(); ++id)
      if (const auto bytes = letters_to_bytes(vocabulary.text(id)); bytes && !bytes->empty())
        (void)spelled_.add(id, *bytes);  // can't fail: the alphabet is one to one
}

void Bpe::encode(std::string_view piece, Workspace& space, std::vector<u32>& out) const {
  if (ignore_merges_)
    if (const auto id = of_bytes_ ? spelled_.find(piece) : vocabulary_->find(piece)) return out.push_back(*id);
  start(piece, space);
  merge(space);
  finish(piece, space, out);
}

u32 Bpe::symbol_of(std::string_view character) const {
  if (const auto id = vocabulary_->find(character))
    if (!is(*id, PieceType::control) && !is(*id, PieceType::unknown) && !is(*id, PieceType::byte)) return *id;
  const auto loose = loose_.find(character);
  return loose ? vocabulary_->size() + *loose : no_symbol;
}

void Bpe::start(std::string_view piece, Workspace& space) const {
  space.symbols.clear();
  for (u32 at = 0; at < piece.size();) {
    u32 id = 0, size = 1;
    if (of_bytes_) {
      id = byte_symbols_[u8(piece[at])];
    } else if (const Trie::Match fixed = user_defined_.longest(piece, at); fixed.length > 0) {
      id = fixed.value | frozen;
      size = fixed.length;
    } else {
      size = utf8::next(piece, at).size;
      id = symbol_of(piece.substr(at, size));
    }
    const u32 index = u32(space.symbols.size());
    space.symbols.push_back({id, at, index - 1, index + 1});
    at += size;
  }
}

// Puts the pair that starts at this symbol into the queue if it can merge.
void Bpe::consider(Workspace& space, u32 left) const {
  if (left >= space.symbols.size()) return;
  const auto& a = space.symbols[left];
  if (a.next >= space.symbols.size() || a.id >= frozen) return;
  const auto& b = space.symbols[a.next];
  const MergeTable::Slot* merged = merges_.find(a.id, b.id);
  if (!merged) return;
  space.queue.push_back({merged->rank, left, a.id, b.id, merged->result});
  std::push_heap(space.queue.begin(), space.queue.end());
  if (has_unused_ && is(merged->result, PieceType::unused)) space.parts[merged->result] = {a.id, b.id};
}

void Bpe::merge(Workspace& space) const {
  auto& symbols = space.symbols;
  space.queue.clear();
  space.parts.clear();
  for (u32 i = 0; i + 1 < symbols.size(); ++i) consider(space, i);
  while (!space.queue.empty()) {
    std::pop_heap(space.queue.begin(), space.queue.end());
    const Workspace::Candidate best = space.queue.back();
    space.queue.pop_back();
    auto& left = symbols[best.at];
    // The pair may have changed since it was queued; a symbol that was merged away has the number no_symbol.
    if (left.id != best.left || left.next >= symbols.size() || symbols[left.next].id != best.right) continue;
    auto& right = symbols[left.next];
    left.id = best.result;
    left.next = right.next;
    right.id = no_symbol;
    if (left.next < symbols.size()) symbols[left.next].previous = best.at;
    consider(space, left.previous);
    consider(space, best.at);
  }
}

void Bpe::finish(std::string_view piece, Workspace& space, std::vector<u32>& out) const {
  space.after_unknown = false;
  for (u32 i = 0; i < space.symbols.size(); i = space.symbols[i].next) {
    const auto& symbol = space.symbols[i];
    const u32 end = symbol.next < space.symbols.size() ? space.symbols[symbol.next].begin : u32(piece.size());
    if (symbol.id == no_symbol)
      put_unknown(piece.substr(symbol.begin, end - symbol.begin), space, out);
    else
      put(symbol.id & ~frozen, space, out);
  }
}

void Bpe::put(u32 id, Workspace& space, std::vector<u32>& out) const {
  space.pending.assign(1, id);
  while (!space.pending.empty()) {
    const u32 next = space.pending.back();
    space.pending.pop_back();
    // A piece that SentencePiece marks as unused only helps on the way; it is taken apart again.
    const auto parts = is(next, PieceType::unused) ? space.parts.find(next) : space.parts.end();
    if (parts != space.parts.end()) {
      space.pending.push_back(parts->second.second);
      space.pending.push_back(parts->second.first);
    } else if (next >= vocabulary_->size()) {
      put_unknown(loose_.text(next - vocabulary_->size()), space, out);
    } else {
      out.push_back(next);
      space.after_unknown = false;
    }
  }
}

void Bpe::put_unknown(std::string_view character, Workspace& space, std::vector<u32>& out) const {
  if (std::ranges::all_of(character, [&](char c) { return byte_tokens_[u8(c)] != no_symbol; })) {
    for (const char c : character) out.push_back(byte_tokens_[u8(c)]);
    space.after_unknown = false;
  } else if (unknown_) {
    if (!space.after_unknown || !fuse_unknown_) out.push_back(*unknown_);
    space.after_unknown = true;
  }
}

}  // namespace pteron::llm
