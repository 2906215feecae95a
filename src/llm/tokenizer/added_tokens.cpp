// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/added_tokens.h"

#include "base/error.h"
#include "base/utf8.h"

#include <algorithm>

namespace pteron::tokenizer {
namespace {

// What the reference takes for a part of a word here: its \w is that of another engine than for patterns.
CharSet word_characters() {
  CharSet out = CharSet::word().intersection(CharSet{{0xB2, 0xB3}, {0xB9, 0xB9}, {0xBC, 0xBE}}.complement());
  out.add(0x200C, 0x200D);
  return out;
}

u32 spaces_before(std::string_view text, u32 at, u32 limit) {
  while (at > limit) {
    const u32 before = u32(utf8::before(text, at));
    if (!unicode::is_space(utf8::peek(text, before).code)) break;
    at = before;
  }
  return at;
}

u32 spaces_behind(std::string_view text, u32 at) {
  while (at < text.size()) {
    const utf8::Char c = utf8::peek(text, at);
    if (!unicode::is_space(c.code)) break;
    at += c.size;
  }
  return at;
}

}  // namespace

Result<AddedTokens> AddedTokens::build(const Definition& definition, const Normalizer& normalizer, bool normalized) {
  AddedTokens out;
  for (const AddedToken& token : definition.added) {
    if (token.normalized != normalized) continue;
    std::string text = token.text;
    if (normalized) {
      TRY(text, normalizer.run(text));
    }
    if (text.empty()) continue;
    out.tokens_.push_back(token);
    out.texts_.push_back(std::move(text));
  }
  std::vector<Trie::Entry> entries;
  entries.reserve(out.texts_.size());
  for (u32 i = 0; i < out.texts_.size(); ++i) entries.push_back({out.texts_[i], i});
  out.trie_ = Trie::build(std::move(entries));
  if (std::ranges::any_of(out.tokens_, &AddedToken::single_word)) out.word_ = CharTable(word_characters());
  return out;
}

std::optional<std::string_view> AddedTokens::text(u32 id) const {
  const auto found = std::ranges::find(tokens_, id, &AddedToken::id);
  if (found == tokens_.end()) return std::nullopt;
  return texts_[size_t(found - tokens_.begin())];
}

bool AddedTokens::inside_word(std::string_view text, u32 begin, u32 end) const {
  return (begin > 0 && word_.contains(utf8::peek(text, utf8::before(text, begin)).code)) ||
         (end < text.size() && word_.contains(utf8::peek(text, end).code));
}

std::vector<AddedTokens::Part> AddedTokens::split(std::string_view text, bool special) const {
  std::vector<Part> out;
  const u32 size = u32(text.size());
  u32 done = 0;
  for (u32 at = 0; at < size;) {
    const Trie::Match match = trie_.longest(text, at);
    if (match.length == 0) {
      ++at;
      continue;
    }
    u32 begin = at, end = at + match.length;
    at = end;
    const AddedToken& token = tokens_[match.value];
    if (token.special && !special) continue;
    if (token.single_word && inside_word(text, begin, end)) continue;
    if (token.lstrip) begin = std::max(spaces_before(text, begin, done), done);
    if (token.rstrip) end = spaces_behind(text, end);
    if (begin > done) out.push_back({done, begin, std::nullopt});
    if (begin < end) out.push_back({begin, end, token.id});  // else another token has taken it with its spaces
    done = end;
  }
  if (done < size) out.push_back({done, size, std::nullopt});
  return out;
}

}  // namespace pteron::tokenizer
