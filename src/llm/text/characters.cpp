// SPDX-License-Identifier: BSD-3-Clause
#include "llm/text/characters.h"

#include "base/utf8.h"
#include "llm/text/unicode.h"

#include <algorithm>

namespace pteron {
namespace {

void append_upper(std::string& out, u32 c) {
  if (!unicode::append_mapped(out, c, unicode::uppercase)) utf8::append(out, c);
}

void append_title(std::string& out, u32 c) {
  if (!unicode::append_mapped(out, c, unicode::titlecase)) append_upper(out, c);
}

bool has_case(u32 c) {
  std::string unused;
  return unicode::append_mapped(unused, c, unicode::lowercase) || unicode::append_mapped(unused, c, unicode::uppercase);
}

// `in_word`: a letter stands before it. The Greek sigma has a second small form for the end of a word.
void append_lower(std::string& out, u32 c, bool in_word, std::string_view behind) {
  constexpr u32 capital_sigma = 0x3A3, final_sigma = 0x3C2;
  size_t at = 0;
  if (c == capital_sigma && in_word && (behind.empty() || !has_case(utf8::next(behind, at))))
    utf8::append(out, final_sigma);
  else if (!unicode::append_mapped(out, c, unicode::lowercase))
    utf8::append(out, c);
}

bool in_set(u32 c, std::string_view set) {
  for (size_t at = 0; at < set.size();)
    if (utf8::next(set, at) == c) return true;
  return false;
}

}  // namespace

CharSet word_characters() {
  CharSet out{{'_', '_'}};
  for (const char* name : {"L", "N"}) out.add(*CharSet::property(name));
  return out;
}
CharSet space_characters() {
  CharSet out = CharSet::space();
  out.add(0x1C, 0x1F);  // separators of files, groups, records and units
  return out;
}

bool is_word(u32 c) { return c == '_' || is_letter(c) || unicode::category(c)[0] == 'N'; }
bool is_digit(u32 c) { return unicode::category(c) == "Nd"; }
bool is_numeral(u32 c) {
  return is_digit(c) ||
         std::ranges::any_of(unicode::digits, [&](const auto& range) { return range.first <= c && c <= range.last; });
}
bool is_letter(u32 c) { return unicode::category(c)[0] == 'L'; }
bool is_space(u32 c) { return unicode::is_space(c) || (c >= 0x1C && c <= 0x1F); }
bool is_printable(u32 c) {
  const char group = unicode::category(c)[0];
  return c == ' ' || (group != 'C' && group != 'Z');
}

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
