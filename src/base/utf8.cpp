// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.h"

#include <algorithm>
#include <cstring>

namespace pteron::utf8 {

Char decode(std::string_view text, size_t at) {
  const u8 lead = u8(text[at]);
  if (lead < 0x80) return {lead, 1, State::valid};
  if (lead < 0xC2 || lead > 0xF4) return {0, 1, State::invalid};
  const u32 size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  u32 code = lead & (0x7Fu >> size);
  for (u32 i = 1; i < size; ++i) {
    if (at + i == text.size()) return {0, i, State::incomplete};
    const u8 byte = u8(text[at + i]);
    // The second byte rules out overlong forms, surrogates and what lies above U+10FFFF.
    const u8 low = i > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const u8 high = i > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte < low || byte > high) return {0, i, State::invalid};
    code = code << 6 | (byte & 0x3F);
  }
  return {code, size, State::valid};
}

size_t count(std::string_view text) {
  return size_t(std::count_if(text.begin(), text.end(), [](char byte) { return !continues(byte); }));
}

size_t offset(std::string_view text, size_t index) {
  size_t at = 0;
  for (; at < text.size(); ++at)
    if (!continues(text[at]) && index-- == 0) break;
  return at;
}

void append(std::string& out, u32 code_point) {
  if (code_point < 0x80) {
    out += char(code_point);
    return;
  }
  const u32 size = length_of(code_point);
  out += char(u8(0xF00u >> size) | code_point >> (6 * (size - 1)));
  for (u32 i = size - 1; i > 0; --i) out += char(0x80 | (code_point >> (6 * (i - 1)) & 0x3F));
}

size_t find_invalid(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    u64 word = 0;
    if (at + 8 <= text.size() && (std::memcpy(&word, text.data() + at, 8), (word & 0x8080808080808080u) == 0)) {
      at += 8;
      continue;
    }
    const Char c = decode(text, at);
    if (c.state != State::valid) return at;
    at += c.size;
  }
  return at;
}

size_t unfinished(std::string_view text) {
  const size_t window = std::min<size_t>(text.size(), 3);
  for (size_t back = 1; back <= window; ++back) {
    const char byte = text[text.size() - back];
    if (!continues(byte)) return length_from(byte) > back ? back : 0;
  }
  return 0;
}

void drain(std::string& bytes, std::string& out) {
  size_t at = 0;
  while (at < bytes.size()) {
    const size_t good = find_invalid(std::string_view(bytes).substr(at));
    out.append(bytes, at, good);
    at += good;
    if (at == bytes.size()) break;
    const Char c = decode(bytes, at);
    if (c.state == State::incomplete) break;
    out += replacement;
    at += c.size;
  }
  bytes.erase(0, at);
}

}  // namespace pteron::utf8
