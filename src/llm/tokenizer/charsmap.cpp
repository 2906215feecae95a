// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/charsmap.h"

#include "base/error.h"
#include "base/utf8.h"

#include <algorithm>
#include <cstring>

namespace pteron::tokenizer {
namespace {

// A unit is a node: the byte that leads to it, whether an entry ends here and where its children lie. Children are at
// the node's base with their byte mixed in, the value of an entry at the base itself.
bool is_end(u32 unit) { return unit >> 8 & 1; }
u32 byte_of(u32 unit) { return unit & 0x800000FF; }
u32 base_of(u32 unit) { return unit >> 10 << ((unit & 0x200) >> 6); }
u32 value_of(u32 unit) { return unit & 0x7FFFFFFF; }

constexpr size_t longest_entry = 256;

bool inside_character(std::string_view text, size_t at) { return at < text.size() && (u8(text[at]) & 0xC0) == 0x80; }

}  // namespace

Result<Charsmap> Charsmap::parse(std::string_view bytes) {
  Charsmap out;
  if (bytes.empty()) return out;
  u32 size = 0;
  if (bytes.size() < sizeof size) return invalid("the table of character replacements is truncated");
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  if (size >= bytes.size() || size % sizeof(u32) != 0 || size == 0 || bytes.back() != '\0')
    return invalid("the table of character replacements is damaged: its index has ", size, " of ", bytes.size(),
                   " bytes");
  out.units_.resize(size / sizeof(u32));
  std::memcpy(out.units_.data(), bytes.data(), size);
  out.texts_ = bytes.substr(size);
  if (utf8::find_invalid(out.texts_) != out.texts_.size())
    return invalid("the table of character replacements is damaged: its texts are not valid UTF-8");
  return out;
}

Charsmap::Match Charsmap::longest(std::string_view text, size_t at) const {
  Match out;
  if (units_.empty()) return out;
  const std::string_view rest = text.substr(at, longest_entry);
  u32 base = base_of(units_[0]);
  for (u32 i = 0; i < rest.size(); ++i) {
    const u32 node = base ^ u8(rest[i]);
    if (node >= units_.size() || byte_of(units_[node]) != u8(rest[i])) break;
    base = node ^ base_of(units_[node]);
    if (!is_end(units_[node]) || base >= units_.size()) continue;
    const u32 value = value_of(units_[base]);
    if (value >= texts_.size() || inside_character(texts_, value) || inside_character(rest, i + 1)) continue;
    out = {i + 1, std::string_view(texts_.c_str() + value)};  // which a zero ends: one closes all texts
  }
  return out;
}

}  // namespace pteron::tokenizer
