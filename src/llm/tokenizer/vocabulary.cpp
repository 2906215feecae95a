// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/vocabulary.h"

#include "base/error.h"

#include <cstring>

namespace pteron::tokenizer {

u64 hash_text(std::string_view text) {
  constexpr u64 factor = 0x9E3779B97F4A7C15u;
  u64 hash = text.size() * factor;
  const auto mix = [&](u64 word) {
    hash = (hash ^ word) * factor;
    hash ^= hash >> 32;
  };
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    u64 word = 0;
    std::memcpy(&word, text.data() + at, 8);
    mix(word);
  }
  u64 rest = 0;
  for (size_t i = text.size(); i > at; --i) rest = rest << 8 | u8(text[i - 1]);
  mix(rest);
  return hash;
}

u32& Vocabulary::slot_of(std::string_view token) {
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash_text(token) & mask;; i = (i + 1) & mask)
    if (slots_[i] == 0 || text(slots_[i] - 1) == token) return slots_[i];
}

void Vocabulary::grow() {
  slots_.assign(slots_.empty() ? 1024 : slots_.size() * 2, 0);
  for (u32 id = 0; id < size(); ++id)
    if (contains(id)) slot_of(text(id)) = id + 1;
}

Status Vocabulary::add(u32 id, std::string_view token) {
  if (id >= max_size)
    return invalid("token '", token, "' has the number ", id, "; at most ", max_size, " tokens are supported");
  if (contains(id)) return invalid("number ", id, " belongs to two tokens, '", text(id), "' and '", token, "'");
  if (pool_.size() + token.size() >= nothing) return invalid("the vocabulary has more than 4 GiB of text");
  if ((size_t(count_) + 1) * 2 > slots_.size()) grow();
  u32& slot = slot_of(token);
  if (slot != 0) return invalid("token '", token, "' has two numbers, ", slot - 1, " and ", id);
  if (id >= spans_.size()) spans_.resize(id + 1);
  spans_[id] = {u32(pool_.size()), u32(token.size())};
  pool_ += token;
  slot = id + 1;
  ++count_;
  return {};
}

std::optional<u32> Vocabulary::find(std::string_view token) const {
  if (slots_.empty()) return std::nullopt;
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash_text(token) & mask; slots_[i] != 0; i = (i + 1) & mask)
    if (text(slots_[i] - 1) == token) return slots_[i] - 1;
  return std::nullopt;
}

std::optional<u32> Vocabulary::find_byte(u8 byte) const { return find(token_of_byte(byte)); }

std::optional<u8> byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  u32 value = 0;
  for (const char c : token.substr(3, 2)) {
    const size_t digit = std::string_view("0123456789ABCDEFabcdef").find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    value = value << 4 | u32(digit < 16 ? digit : digit - 6);
  }
  return u8(value);
}

std::string token_of_byte(u8 byte) {
  static constexpr char digits[] = "0123456789ABCDEF";
  return {'<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};
}

}  // namespace pteron::tokenizer
