// SPDX-License-Identifier: BSD-3-Clause
// Text is UTF-8 and counted in code points where a user can see the count.
#pragma once

#include <pteron/types.h>

#include <string>
#include <string_view>

namespace pteron::utf8 {

constexpr u32 last_code_point = 0x10FFFF;

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

// Well-formed: no overlong forms, no surrogates, nothing cut off.
bool valid(std::string_view text);

// The code point at `at`, which moves behind it. The text must be valid.
u32 next(std::string_view text, size_t& at);
void append(std::string& out, u32 code_point);

size_t count(std::string_view text);
// The byte offset of the code point number `index`, or the text's size.
size_t offset(std::string_view text, size_t index);

// How many bytes at the end begin a character without finishing it.
size_t unfinished(std::string_view text);

}  // namespace pteron::utf8
