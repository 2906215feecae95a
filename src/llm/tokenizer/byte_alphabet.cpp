// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/byte_alphabet.h"

#include "base/utf8.h"

#include <array>

namespace pteron::tokenizer {
namespace {

struct Alphabet {
  std::array<u16, 256> letter{};
  std::array<i16, 512> byte{};

  constexpr Alphabet() {
    byte.fill(-1);
    u16 next = 256;
    for (u32 b = 0; b < 256; ++b) {
      const bool printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      letter[b] = printable ? u16(b) : next++;
      byte[letter[b]] = i16(b);
    }
  }
};
constexpr Alphabet alphabet;

}  // namespace

u32 byte_to_letter(u8 byte) { return alphabet.letter[byte]; }

std::string bytes_to_letters(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char b : bytes) utf8::append(out, byte_to_letter(u8(b)));
  return out;
}

std::optional<std::string> letters_to_bytes(std::string_view letters) {
  std::string out;
  for (size_t at = 0; at < letters.size();) {
    const utf8::Char c = utf8::peek(letters, at);
    if (c.code >= alphabet.byte.size() || alphabet.byte[c.code] < 0) return std::nullopt;
    out += char(alphabet.byte[c.code]);
    at += c.size;
  }
  return out;
}

}  // namespace pteron::tokenizer
