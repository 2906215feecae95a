// SPDX-License-Identifier: BSD-3-Clause
// Strings without <format>: str("rank ", 9, " exceeds ", 8).
#pragma once

#include <pteron/dtype.h>
#include <pteron/shape.h>

#include <concepts>
#include <string>
#include <string_view>

namespace pteron {

void append(std::string& out, f64 value);  // shortest form that reads back the same
inline void append(std::string& out, std::string_view s) { out += s; }
inline void append(std::string& out, const char* s) { out += s; }
inline void append(std::string& out, const std::string& s) { out += s; }
inline void append(std::string& out, char c) { out += c; }
inline void append(std::string& out, bool b) { out += b ? "true" : "false"; }
inline void append(std::string& out, f32 value) { append(out, f64(value)); }
template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>)
void append(std::string& out, T value) {
  out += std::to_string(value);
}
inline void append(std::string& out, const Shape& shape) { out += to_string(shape); }
inline void append(std::string& out, DType t) { out += name_of(t); }

template <class... Ts>
std::string str(const Ts&... parts) {
  std::string out;
  (append(out, parts), ...);
  return out;
}

// "1.5 MiB", for people.
std::string human_bytes(u64 bytes);

template <class Range>
std::string join(const Range& items, std::string_view separator = ", ") {
  std::string out;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += separator;
    first = false;
    append(out, item);
  }
  return out;
}

}  // namespace pteron
