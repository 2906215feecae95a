// SPDX-License-Identifier: BSD-3-Clause
#include "llm/text/characters.h"

#include "character_tables.h"
#include "llm/text/utf8.h"

#include <algorithm>

namespace pteron {
namespace {

bool contains(std::span<const CharacterRange> ranges, u32 c) {
  const auto behind = std::ranges::upper_bound(ranges, c, {}, &CharacterRange::first);
  return behind != ranges.begin() && c <= std::prev(behind)->last;
}

struct CaseTable {
  std::span<const tables::CaseMapping> singles;
  std::span<const tables::LongCaseMapping> several;
};
constexpr CaseTable lower{tables::lower, tables::long_lower}, upper{tables::upper, tables::long_upper},
    title{tables::title, tables::long_title};

// Whether the table has something for the character, which is then appended.
bool append_mapped(std::string& out, u32 c, const CaseTable& table) {
  const auto single = std::ranges::lower_bound(table.singles, c, {}, &tables::CaseMapping::from);
  if (single != table.singles.end() && single->from == c) {
    utf8::append(out, single->to);
    return true;
  }
  const auto several = std::ranges::lower_bound(table.several, c, {}, &tables::LongCaseMapping::from);
  if (several == table.several.end() || several->from != c) return false;
  for (u32 to : several->to)
    if (to) utf8::append(out, to);
  return true;
}

void append_upper(std::string& out, u32 c) {
  if (!append_mapped(out, c, upper)) utf8::append(out, c);
}

void append_title(std::string& out, u32 c) {
  if (!append_mapped(out, c, title)) append_upper(out, c);
}

bool has_case(u32 c) {
  std::string unused;
  return append_mapped(unused, c, lower) || append_mapped(unused, c, upper);
}

// `in_word`: a letter stands before it. The Greek sigma has a second small form for the end of a word.
void append_lower(std::string& out, u32 c, bool in_word, std::string_view behind) {
  constexpr u32 capital_sigma = 0x3A3, final_sigma = 0x3C2;
  size_t at = 0;
  if (c == capital_sigma && in_word && (behind.empty() || !has_case(utf8::next(behind, at))))
    utf8::append(out, final_sigma);
  else if (!append_mapped(out, c, lower))
    utf8::append(out, c);
}

bool in_set(u32 c, std::string_view set) {
  for (size_t at = 0; at < set.size();)
    if (utf8::next(set, at) == c) return true;
  return false;
}

}  // namespace

std::span<const CharacterRange> word_characters() { return tables::words; }
std::span<const CharacterRange> digit_characters() { return tables::digits; }
std::span<const CharacterRange> space_characters() { return tables::spaces; }

bool is_word(u32 c) { return contains(tables::words, c); }
bool is_digit(u32 c) { return contains(tables::digits, c); }
bool is_numeral(u32 c) { return contains(tables::numerals, c); }
bool is_letter(u32 c) { return contains(tables::letters, c); }
bool is_space(u32 c) { return contains(tables::spaces, c); }
bool is_printable(u32 c) { return contains(tables::printables, c); }

std::string lower_case(std::string_view text) {
  std::string out;
  bool in_word = false;
  for (size_t at = 0; at < text.size();) {
    const u32 c = utf8::next(text, at);
    append_lower(out, c, in_word, text.substr(at));
    in_word = has_case(c);
  }
  return out;
}

std::string upper_case(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) append_upper(out, utf8::next(text, at));
  return out;
}

std::string title_case(std::string_view text) {
  std::string out;
  bool in_word = false;
  for (size_t at = 0; at < text.size();) {
    const u32 c = utf8::next(text, at);
    if (in_word)
      append_lower(out, c, true, text.substr(at));
    else
      append_title(out, c);
    in_word = has_case(c);
  }
  return out;
}

std::string capitalized(std::string_view text) {
  std::string out;
  size_t at = 0;
  if (!text.empty()) append_title(out, utf8::next(text, at));
  return out + lower_case(text.substr(at));
}

std::string_view strip(std::string_view text, Side side, std::string_view set) {
  const auto goes = [&](u32 c) { return set.empty() ? is_space(c) : in_set(c, set); };
  if (side != Side::right)
    for (size_t at = 0; at < text.size() && goes(utf8::next(text, at)); at = 0) text.remove_prefix(at);
  if (side != Side::left)
    while (!text.empty()) {
      size_t start = text.size() - 1;
      while (start > 0 && utf8::continues(text[start])) --start;
      size_t at = start;
      if (!goes(utf8::next(text, at))) break;
      text = text.substr(0, start);
    }
  return text;
}

}  // namespace pteron
