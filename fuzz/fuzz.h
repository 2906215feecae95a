// SPDX-License-Identifier: BSD-3-Clause
// What every target has: bytes from a stranger. A target returns whatever happens; a finding ends the process.
#pragma once

#include <pteron/types.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace pteron::fuzz {

void target(Bytes input);

inline std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
// What comes before the first zero byte, and what comes after it.
inline std::pair<std::string_view, std::string_view> split(std::string_view text) {
  const size_t end = text.find('\0');
  if (end == std::string_view::npos) return {text, {}};
  return {text.substr(0, end), text.substr(end + 1)};
}

}  // namespace pteron::fuzz

extern "C" inline __attribute__((used)) int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pteron::fuzz::target(std::as_bytes(std::span(data, size)));
  return 0;
}
