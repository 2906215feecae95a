// SPDX-License-Identifier: BSD-3-Clause
// Text is UTF-8 and counted in code points where a user can see the count.
#pragma once

#include <pteron/types.h>

#include <string>
#include <string_view>

namespace pteron::utf8 {

constexpr u32 last_code_point = 0x10FFFF;
constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

constexpr bool is_surrogate(u32 c) { return c >= 0xD800 && c <= 0xDFFF; }
constexpr bool continues(char byte) { return (u8(byte) & 0xC0) == 0x80; }

// Bytes of the character that starts with this byte; 0 if no character does.
constexpr u32 length_from(char lead) {
  const u8 b = u8(lead);
  return b < 0x80 ? 1 : b < 0xC2 ? 0 : b < 0xE0 ? 2 : b < 0xF0 ? 3 : b < 0xF5 ? 4 : 0;
}
constexpr u32 length_of(u32 code_point) {
  return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x1'0000 ? 3 : 4;
}

enum class State : u8 { valid, invalid, incomplete };

// What stands at a place of a text. Of bad bytes, `size` counts those that stand for one replacement character: the
// longest start of a good sequence. Incomplete is a good start that the end of the text cuts off.
struct Char {
  u32 code = 0;
  u32 size = 1;
  State state = State::valid;
};

Char decode(std::string_view text, size_t at);

// The following ones are for text that is known to be valid.

inline Char peek(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return u32(u8(text[at + i])); };
  const u32 lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (lead < 0xF0) return {(lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  return {(lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F), 4};
}
// The code point at `at`, which moves behind it.
inline u32 next(std::string_view text, size_t& at) {
  const Char c = peek(text, at);
  at += c.size;
  return c.code;
}
// Where the character before `at` starts.
inline size_t before(std::string_view text, size_t at) {
  do --at;
  while (continues(text[at]));
  return at;
}
size_t count(std::string_view text);
// The byte offset of the code point number `index`, or the text's size.
size_t offset(std::string_view text, size_t index);

void append(std::string& out, u32 code_point);

// The offset of the first byte that is not part of valid UTF-8; the size of the text if there is none.
size_t find_invalid(std::string_view text);
// Well-formed: no overlong forms, no surrogates, nothing cut off.
inline bool valid(std::string_view text) { return find_invalid(text) == text.size(); }

// How many bytes at the end begin a character without finishing it.
size_t unfinished(std::string_view text);
// Moves from `bytes` to `out` what is complete, with replacement characters for what can't become valid any more.
void drain(std::string& bytes, std::string& out);

}  // namespace pteron::utf8
