// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/bert_text.h"

#include "base/utf8.h"

#include <algorithm>

namespace pteron::tokenizer {
namespace {

// Words of these are a character long.
constexpr unicode::Range ideographs[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                         {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                                         {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};

// The reference knows the categories of Unicode 8: what has become a mark or a format character since then is neither.
constexpr unicode::Range later_marks[] = {
    {0x7FD, 0x7FD},     {0x897, 0x8E1},     {0x9FE, 0x9FE},     {0xAFA, 0xAFF},     {0xB55, 0xB55},
    {0xC04, 0xC3C},     {0xD00, 0xD00},     {0xD3B, 0xD3C},     {0xD81, 0xD81},     {0xEBA, 0xEBA},
    {0xECE, 0xECE},     {0x180F, 0x1886},   {0x1ABF, 0x1ACE},   {0x1DF6, 0x1DFB},   {0xA82C, 0xA82C},
    {0xA8C5, 0xA8C5},   {0xA8FF, 0xA8FF},   {0xA9BD, 0xA9BD},   {0x10D24, 0x10F85}, {0x11070, 0x11074},
    {0x110C2, 0x110C2}, {0x111C9, 0x111C9}, {0x111CF, 0x111CF}, {0x1123E, 0x11241}, {0x1133B, 0x1133B},
    {0x113BB, 0x1145E}, {0x1182F, 0x1612F}, {0x16F4F, 0x16F4F}, {0x16FE4, 0x16FE4}, {0x1CF00, 0x1CF46},
    {0x1E000, 0x1E5EF}, {0x1E944, 0x1E94A}};
constexpr unicode::Range later_formats[] = {{0x890, 0x8E2}, {0x110CD, 0x1343F}};
constexpr u32 earlier_marks[] = {0x1734, 0x1171E};  // which they have ceased to be

bool is_in(u32 code, std::span<const unicode::Range> ranges) {
  return std::ranges::any_of(ranges, [&](const unicode::Range& r) { return r.first <= code && code <= r.last; });
}

bool is_mark(u32 code) {
  if (std::ranges::find(earlier_marks, code) != std::end(earlier_marks)) return true;
  return unicode::category(code) == "Mn" && !is_in(code, later_marks);
}

bool is_white(u32 code) { return code == '\t' || code == '\n' || code == '\r' || unicode::is_space(code); }

bool is_dropped(u32 code) {
  if (code == '\t' || code == '\n' || code == '\r') return false;
  const std::string_view category = unicode::category(code);
  if (category == "Cf") return !is_in(code, later_formats);
  return code == 0xFFFD || category == "Cc" || category == "Co";
}

template <class Change>  // void(std::string& out, u32 code, std::string_view character)
std::string each_character(std::string_view text, Change change) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const auto character = utf8::peek(text, at);
    change(out, character.code, text.substr(at, character.size));
    at += character.size;
  }
  return out;
}

}  // namespace

std::string bert_text(std::string_view text, const BertText& rules) {
  std::string out(text);
  if (rules.clean)
    out = each_character(out, [](std::string& to, u32 code, std::string_view character) {
      if (!is_dropped(code)) to += is_white(code) ? " " : character;
    });
  if (rules.spread_ideographs)
    out = each_character(out, [](std::string& to, u32 code, std::string_view character) {
      if (is_in(code, ideographs))
        to.append(" ").append(character).append(" ");
      else
        to += character;
    });
  if (rules.strip_accents)
    out = each_character(unicode::normalize(out, unicode::Form::nfd),
                         [](std::string& to, u32 code, std::string_view character) {
                           if (!is_mark(code)) to += character;
                         });
  return rules.lowercase ? unicode::to_lowercase(out) : out;
}

}  // namespace pteron::tokenizer
