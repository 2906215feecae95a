// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/base64.h"

#include <pteron/types.h>

#include <array>

namespace pteron::llm {
namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr auto values = [] {
  std::array<i8, 256> out{};
  out.fill(-1);
  for (size_t i = 0; i < digits.size(); ++i) out[u8(digits[i])] = i8(i);
  return out;
}();

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    u32 group = 0;
    const size_t count = bytes.size() - at < 3 ? bytes.size() - at : 3;
    for (size_t i = 0; i < 3; ++i) group = group << 8 | (i < count ? u8(bytes[at + i]) : 0);
    for (size_t i = 0; i < 4; ++i) out += i <= count ? digits[group >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  u32 group = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool pad = i + padding >= text.size();
    const i8 value = pad ? 0 : values[u8(text[i])];
    if (value < 0) return std::nullopt;
    group = group << 6 | u32(value);
    if (i % 4 != 3) continue;
    for (int shift : {16, 8, 0}) out += char(group >> shift);
    group = 0;
  }
  out.resize(out.size() - padding);
  return out;
}

}  // namespace pteron::llm
