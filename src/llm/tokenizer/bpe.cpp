// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/bpe.h"

#include "base/utf8.h"
#include "llm/tokenizer/byte_alphabet.h"

#include <algorithm>

namespace pteron::tokenizer {

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
  add_joints(model);
  std::vector<Trie::Entry> user_defined;
  for (u32 id = 0; id < types_.size(); ++id)
    if (types_[id] == PieceType::user_defined) user_defined.push_back({vocabulary.text(id), id});
  user_defined_ = Trie::build(std::move(user_defined));
  if (of_bytes && ignore_merges_)
    for (u32 id = 0; id < vocabulary.size(); ++id)
      if (const auto bytes = letters_to_bytes(vocabulary.text(id)); bytes && !bytes->empty())
        (void)spelled_.add(id, *bytes);  // can't fail: the alphabet is one to one
}

// A merge happens between the last character of its left part and the first one of its right part.
void Bpe::add_joints(const ModelData& model) {
  const u32 count = vocabulary_->size() + u32(model.loose.size());
  std::vector<u32> firsts(count, no_symbol), lasts(count, no_symbol);
  for (u32 id = 0; id < count; ++id) {
    const std::string_view text =
        id < vocabulary_->size() ? vocabulary_->text(id) : model.loose[id - vocabulary_->size()];
    if (text.empty()) continue;
    firsts[id] = symbol_of(text.substr(0, utf8::peek(text, 0).size));
    lasts[id] = symbol_of(text.substr(utf8::before(text, text.size())));
  }
  for (const Merge& m : model.merges) joints_.add(lasts[m.left], firsts[m.right]);
}

void Bpe::encode(std::string_view piece, Workspace& space, std::vector<u32>& out) const {
  if (ignore_merges_)
    if (const auto id = of_bytes_ ? spelled_.find(piece) : vocabulary_->find(piece)) return out.push_back(*id);
  space.after_unknown = false;
  space.symbols.clear();
  const auto flush = [&] {
    constexpr size_t few = 48;
    if (space.symbols.size() <= few && !has_unused_)
      merge_few(space);
    else
      merge_many(space);
    finish(piece, space, out);
    space.symbols.clear();
  };
  for (u32 at = 0; at < piece.size();) {
    const Workspace::Symbol symbol = symbol_at(piece, at);
    at += symbol.size;
    // What can't be written in any way is left out before merging, so that its neighbours meet.
    if (symbol.id == no_symbol && !unknown_ && !can_spell(piece.substr(symbol.begin, symbol.size))) continue;
    // Parts between which nothing ever merges are independent, and short.
    const bool apart = !space.symbols.empty() && !joints_.contains(space.symbols.back().id, symbol.id);
    if (apart && !has_unused_) flush();
    space.symbols.push_back(symbol);
  }
  flush();
}

u32 Bpe::symbol_of(std::string_view character) const {
  if (const auto loose = loose_.find(character)) return vocabulary_->size() + *loose;
  return vocabulary_->find(character).value_or(no_symbol);
}

Bpe::Workspace::Symbol Bpe::symbol_at(std::string_view piece, u32 at) const {
  if (of_bytes_) return {byte_symbols_[u8(piece[at])], at, 1, never, 0};
  if (const Trie::Match fixed = user_defined_.longest(piece, at); fixed.length > 0)
    return {fixed.value | frozen, at, fixed.length, never, 0};
  const u32 size = utf8::peek(piece, at).size;
  return {symbol_of(piece.substr(at, size)), at, size, never, 0};
}

void Bpe::finish(std::string_view piece, Workspace& space, std::vector<u32>& out) const {
  for (const auto& symbol : space.symbols) {
    if (symbol.id == no_symbol)
      put_unknown(piece.substr(symbol.begin, symbol.size), space, out);
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

bool Bpe::can_spell(std::string_view character) const {
  return std::ranges::all_of(character, [&](char c) { return byte_tokens_[u8(c)] != no_symbol; });
}

void Bpe::put_unknown(std::string_view character, Workspace& space, std::vector<u32>& out) const {
  if (can_spell(character)) {
    for (const char c : character) out.push_back(byte_tokens_[u8(c)]);
    space.after_unknown = false;
  } else if (unknown_) {
    if (!space.after_unknown || !fuse_unknown_) out.push_back(*unknown_);
    space.after_unknown = true;
  }
}

}  // namespace pteron::tokenizer
