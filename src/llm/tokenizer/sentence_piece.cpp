// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/sentence_piece.h"

#include "base/error.h"
#include "base/utf8.h"
#include "llm/tokenizer/vocabulary_merges.h"

#include <algorithm>
#include <cmath>

namespace pteron::tokenizer {
namespace {

constexpr const char* lower_block = "\xE2\x96\x81";  // U+2581, which stands for a space

Status add_piece(const SentencePieceModel::Piece& piece, Definition& d) {
  const u32 id = d.vocabulary.size();
  if (piece.text.empty()) return invalid("token ", id, " is empty");
  if (utf8::find_invalid(piece.text) != piece.text.size()) return invalid("token ", id, " is not valid UTF-8");
  if (!std::isfinite(piece.score)) return invalid("the score of token ", id, " is not a finite number");
  if (piece.type < PieceType::normal || piece.type > PieceType::byte)
    return invalid("token ", id, " has the unknown type ", int(piece.type));
  if (piece.type == PieceType::byte && !byte_of_token(piece.text))
    return invalid("token ", id, " '", piece.text, "' should stand for a byte");
  TRY_DO(d.vocabulary.add(id, piece.text));
  d.model.types.push_back(piece.type);
  if (piece.type == PieceType::unknown) {
    if (d.model.unknown) return invalid("two tokens, ", *d.model.unknown, " and ", id, ", stand for what is unknown");
    d.model.unknown = id;
  }
  if (piece.type == PieceType::control || piece.type == PieceType::unknown)
    d.added.push_back({.id = id, .text = piece.text, .special = true});
  return {};
}

// Where SentencePiece only marks spaces, two ordinary steps do the same.
bool only_marks_spaces(const SentencePieceModel& model) {
  const SentencePieceRules& r = model.rules;
  return r.charsmap.empty() && !r.remove_extra_whitespaces && r.escape_whitespaces && !r.whitespace_as_suffix &&
         std::ranges::none_of(model.pieces, [](const auto& p) { return p.type == PieceType::user_defined; });
}

}  // namespace

Result<Definition> define(const SentencePieceModel& model) {
  Definition d;
  d.model.kind = model.unigram ? ModelData::unigram : ModelData::bpe;
  d.model.byte_fallback = model.byte_fallback;
  d.model.fuse_unknown = true;
  for (const auto& piece : model.pieces) TRY_DO(add_piece(piece, d));
  if (!d.model.unknown) return invalid("no token stands for what is unknown");
  for (u32 b = 0; model.byte_fallback && b < 256; ++b)
    if (!d.vocabulary.find_byte(u8(b))) return invalid("the token ", token_of_byte(u8(b)), " is missing");

  std::vector<f32> scores;
  scores.reserve(model.pieces.size());
  for (const auto& piece : model.pieces) scores.push_back(piece.score);
  if (model.unigram)
    d.model.scores.assign(scores.begin(), scores.end());
  else
    TRY_DO(merge_by_vocabulary(d.vocabulary, scores, d.model));

  if (only_marks_spaces(model)) {
    if (model.rules.add_dummy_prefix) d.normalizer.push_back(Prepend{lower_block});
    d.normalizer.push_back(Replace{{" ", false}, lower_block});
  } else {
    d.normalizer.push_back(model.rules);
  }
  d.decoder = {DecodeReplace{lower_block, " "}, DecodeBytes{}, DecodeFuse{}};
  if (model.rules.add_dummy_prefix || model.rules.remove_extra_whitespaces) d.decoder.push_back(DecodeStrip{" ", 1, 0});
  d.roles = model.roles;
  if (model.add_bos && d.roles.bos) d.surroundings.before.push_back(*d.roles.bos);
  if (model.add_eos && d.roles.eos) d.surroundings.after.push_back(*d.roles.eos);
  return d;
}

}  // namespace pteron::tokenizer
