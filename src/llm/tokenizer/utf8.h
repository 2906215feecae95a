// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/types.h>

#include <string>
#include <string_view>

namespace pteron::llm::utf8 {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

enum class State : u8 { valid, invalid, incomplete };

// What stands at a place of a text. Of bad bytes, `size` counts those that stand for one replacement character: the
// longest start of a good sequence. Incomplete is a good start that the end of the text cuts off.
struct Char {
  u32 code = 0;
  u32 size = 1;
  State state = State::valid;
};

Char decode(std::string_view text, size_t at);
// The same for text that is known to be valid.
inline Char next(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return u32(u8(text[at + i])); };
  const u32 lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (lead < 0xF0) return {(lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  return {(lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F), 4};
}
// Where the character before `at` starts, in valid text.
inline size_t before(std::string_view text, size_t at) {
  do --at;
  while ((u8(text[at]) & 0xC0) == 0x80);
  return at;
}
void append(std::string& out, u32 code);

// The offset of the first byte that is not part of valid UTF-8; the size of the text if there is none.
size_t find_invalid(std::string_view text);

// Moves from `bytes` to `out` what is complete, with replacement characters for what can't become valid any more.
void drain(std::string& bytes, std::string& out);

}  // namespace pteron::llm::utf8
