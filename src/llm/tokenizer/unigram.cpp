// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/unigram.h"

#include "base/error.h"
#include "base/utf8.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace pteron::tokenizer {

Unigram::Unigram(const Vocabulary& vocabulary, const ModelData& model)
    : scores_(model.scores), types_(model.types), unknown_(model.unknown.value_or(nothing)) {
  lowest_ = FLT_MAX;
  std::vector<Trie::Entry> entries;
  for (u32 id = 0; id < vocabulary.size(); ++id) {
    const PieceType type = types_.empty() ? PieceType::normal : types_[id];
    if (type == PieceType::normal) lowest_ = std::min(lowest_, scores_[id]);
    if (type == PieceType::normal || type == PieceType::user_defined) entries.push_back({vocabulary.text(id), id});
  }
  trie_ = Trie::build(std::move(entries));
  for (u32 b = 0; b < 256; ++b)
    byte_tokens_[b] = model.byte_fallback ? vocabulary.find_byte(u8(b)).value_or(nothing) : nothing;
}

// SentencePiece keeps sums in single precision, which decides between ways that are almost equal.
f64 Unigram::sum(f64 before, f64 score) const { return types_.empty() ? before + score : f64(f32(before + score)); }

f64 Unigram::score_of(u32 token, u32 length) const {
  // A piece that the user defined wins over all others, a longer one over shorter ones.
  const bool user_defined = !types_.empty() && types_[token] == PieceType::user_defined;
  return user_defined ? f64(f32(0.1 * (length - 1))) : scores_[token];
}

void Unigram::offer(Workspace& space, u32 at, f64 score, u32 from, u32 token) const {
  auto& best = space.best[at];
  if (best.from == nothing || score > best.score) best = {score, from, token};
  space.frontier = std::max(space.frontier, at);
}

// SentencePiece starts to count from zero again before sums get too large for single precision.
void Unigram::rebase(Workspace& space, u32 at) const {
  constexpr f64 limit = 100000;
  const f64 score = space.best[at].score;
  if (types_.empty() || std::abs(score) <= limit) return;
  space.best[at].score = 0;
  for (u32 i = at + 1; i <= space.frontier; ++i)
    if (space.best[i].from != nothing) space.best[i].score = sum(space.best[i].score, -score);
}

void Unigram::search(std::string_view piece, Workspace& space) const {
  constexpr f64 unknown_penalty = 10;
  const f64 unknown_score = sum(lowest_, -unknown_penalty);
  space.best.assign(piece.size() + 1, {0, nothing, nothing});
  space.frontier = 0;
  for (u32 at = 0; at < piece.size();) {
    rebase(space, at);
    const f64 here = space.best[at].score;
    const u32 size = utf8::peek(piece, at).size;
    bool covered = false;
    trie_.prefixes(piece, at, [&](u32 length, u32 token) {
      offer(space, at + length, sum(here, score_of(token, length)), at, token);
      covered |= length == size;
    });
    if (!covered) offer(space, at + size, sum(here, unknown_score), at, unknown_);
    at += size;
  }
}

Status Unigram::encode(std::string_view piece, Workspace& space, std::vector<u32>& out) const {
  search(piece, space);
  space.ends.clear();
  for (u32 end = u32(piece.size()); end > 0; end = space.best[end].from) space.ends.push_back(end);
  bool after_unknown = false;
  for (auto end = space.ends.rbegin(); end != space.ends.rend(); ++end) {
    const auto& [score, from, token] = space.best[*end];
    const std::string_view text = piece.substr(from, *end - from);
    if (token != unknown_) {
      out.push_back(token);
      after_unknown = false;
    } else if (std::ranges::all_of(text, [&](char c) { return byte_tokens_[u8(c)] != nothing; })) {
      for (const char c : text) out.push_back(byte_tokens_[u8(c)]);
      after_unknown = false;
    } else {
      if (unknown_ == nothing)
        return invalid("the tokenizer has no token for '", text, "' and none for what is unknown");
      if (!after_unknown) out.push_back(unknown_);
      after_unknown = true;
    }
  }
  return {};
}

}  // namespace pteron::tokenizer
