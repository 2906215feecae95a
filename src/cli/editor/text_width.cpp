// SPDX-License-Identifier: BSD-3-Clause
#include "cli/editor/text_width.h"

#include "base/utf8.h"
#include "llm/text/unicode.h"

#include <algorithm>
#include <iterator>

namespace pteron::cli {
namespace {

constexpr u32 joiner = 0x200D, emoji_style = 0xFE0F;

// East Asian wide and fullwidth characters, and emoji that are shown as such.
constexpr unicode::Range wide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x23F0, 0x23F0},
    {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
    {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},
    {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
    {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27B0, 0x27B0},   {0x27BF, 0x27BF},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},
    {0x2E80, 0x303E},   {0x3041, 0x3247},   {0x3250, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97C},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x16FE0, 0x18DFF}, {0x1AFF0, 0x1B2FF}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF},
    {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F1E6, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C},
    {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4},
    {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E},
    {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F},
    {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC}, {0x1F6D0, 0x1F6D2}, {0x1F6D5, 0x1F6DF}, {0x1F6EB, 0x1F6EF},
    {0x1F6F4, 0x1F6FF}, {0x1F7E0, 0x1F7F0}, {0x1F90C, 0x1F93A}, {0x1F93C, 0x1F945}, {0x1F947, 0x1F9FF},
    {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};

bool is_wide(u32 code) {
  const auto behind = std::ranges::upper_bound(wide, code, {}, &unicode::Range::first);
  return behind != std::begin(wide) && code <= std::prev(behind)->last;
}

// Marks, what has no form of its own, vowels and finals of Korean syllables that are spelled out, tones of skin.
bool joins_what_precedes(u32 code) {
  if (code < 0x300) return false;
  const std::string_view category = unicode::category(code);
  return category == "Mn" || category == "Me" || category == "Cf" || (code >= 0x1160 && code <= 0x11FF) ||
         (code >= 0x1F3FB && code <= 0x1F3FF);
}

bool is_flag_letter(u32 code) { return code >= 0x1F1E6 && code <= 0x1F1FF; }

}  // namespace

Cluster cluster_at(std::string_view text, size_t at) {
  size_t end = at;
  const u32 first = utf8::next(text, end);
  Cluster out{.columns = is_wide(first) ? 2u : 1u};
  if (is_flag_letter(first) && end < text.size() && is_flag_letter(utf8::peek(text, end).code)) utf8::next(text, end);
  while (end < text.size() && first >= ' ') {
    const u32 code = utf8::peek(text, end).code;
    if (!joins_what_precedes(code)) break;
    if (code == emoji_style) out.columns = 2;
    utf8::next(text, end);
    if (code == joiner && end < text.size() && is_wide(utf8::peek(text, end).code)) utf8::next(text, end);
  }
  out.size = end - at;
  return out;
}

size_t cluster_before(std::string_view text, size_t at) {
  // What belongs together is only known from the left; a line break never belongs to anything.
  size_t start = at > 0 ? text.substr(0, at - 1).rfind('\n') + 1 : 0;
  for (size_t next = start; next < at;) {
    start = next;
    next += cluster_at(text, next).size;
  }
  return start;
}

}  // namespace pteron::cli
