// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pteron::tokenizer {

// Tokens by number and by text. Numbers may have gaps, texts are unique.
class Vocabulary {
 public:
  // Far above what models have; keeps a wrong number in a file from taking all memory.
  static constexpr u32 max_size = 1u << 22;

  Status add(u32 id, std::string_view text);

  u32 size() const { return u32(spans_.size()); }  // the highest number + 1
  bool contains(u32 id) const { return id < spans_.size() && spans_[id].begin != nothing; }
  std::string_view text(u32 id) const {
    return contains(id) ? std::string_view(pool_).substr(spans_[id].begin, spans_[id].size) : std::string_view();
  }
  std::optional<u32> find(std::string_view text) const;
  // Of the token for a byte, "<0x0A>".
  std::optional<u32> find_byte(u8 byte) const;

 private:
  static constexpr u32 nothing = UINT32_MAX;
  struct Span {
    u32 begin = nothing, size = 0;
  };
  u32& slot_of(std::string_view text);
  void grow();

  std::string pool_;
  std::vector<Span> spans_;
  std::vector<u32> slots_;  // open addressing: number + 1, 0 is free
  u32 count_ = 0;
};

// The byte that "<0x0A>" stands for.
std::optional<u8> byte_of_token(std::string_view token);
std::string token_of_byte(u8 byte);

u64 hash_text(std::string_view text);

}  // namespace pteron::tokenizer
