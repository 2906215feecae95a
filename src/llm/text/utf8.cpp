// SPDX-License-Identifier: BSD-3-Clause
#include "llm/text/utf8.h"

#include <algorithm>

namespace pteron::utf8 {

bool valid(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const u32 length = length_from(text[at]);
    if (length == 0 || at + length > text.size()) return false;
    for (u32 i = 1; i < length; ++i)
      if (!continues(text[at + i])) return false;
    const size_t start = at;
    const u32 c = next(text, at);
    if (length_of(c) != at - start || is_surrogate(c) || c > last_code_point) return false;
  }
  return true;
}

u32 next(std::string_view text, size_t& at) {
  const u32 lead = u8(text[at]);
  const u32 length = length_from(text[at]);
  u32 c = length == 1 ? lead : lead & (0x7F >> length);
  for (u32 i = 1; i < length; ++i) c = c << 6 | (u8(text[at + i]) & 0x3F);
  at += length;
  return c;
}

void append(std::string& out, u32 c) {
  const u32 length = length_of(c);
  if (length == 1) {
    out += char(c);
    return;
  }
  out += char((0xF00 >> length & 0xFF) | c >> 6 * (length - 1));
  for (u32 i = length - 1; i-- > 0;) out += char(0x80 | (c >> 6 * i & 0x3F));
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

size_t unfinished(std::string_view text) {
  const size_t window = std::min<size_t>(text.size(), 3);
  for (size_t back = 1; back <= window; ++back) {
    const char byte = text[text.size() - back];
    if (!continues(byte)) return length_from(byte) > back ? back : 0;
  }
  return 0;
}

}  // namespace pteron::utf8
