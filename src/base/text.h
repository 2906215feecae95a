// SPDX-License-Identifier: BSD-3-Clause
// Strings without <format>: str("rank ", 9, " exceeds ", 8).
#pragma once

#include <pteron/dtype.h>
#include <pteron/shape.h>

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

namespace pteron {

// What `str` can write. Calls make a list of these instead of a function for each combination of types: messages are
// many, and most of them have a combination of their own.
class Part {
 public:
  Part(const char* text) : kind_(c_text), c_text_(text) {}
  Part(std::string_view text) : kind_(text_), size_(text.size()), c_text_(text.data()) {}
  Part(const std::string& text) : Part(std::string_view(text)) {}
  Part(char letter) : kind_(letter_), integer_(letter) {}
  Part(bool value) : Part(value ? "true" : "false") {}
  Part(f64 number) : kind_(number_), real_(number) {}
  template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>)
  Part(T value) : kind_(std::signed_integral<T> ? integer : natural), integer_(i64(value)) {}
  Part(const Shape& shape) : kind_(shape_), shape_value_(&shape) {}
  Part(DType type) : Part(name_of(type)) {}

  void append_to(std::string& out) const;

 private:
  enum Kind : u8 { c_text, text_, letter_, integer, natural, number_, shape_ };
  Kind kind_;
  size_t size_ = 0;
  union {
    const char* c_text_;
    i64 integer_;
    f64 real_;
    const Shape* shape_value_;
  };
};

std::string concatenated(std::initializer_list<Part> parts);

template <class... Ts>
[[gnu::always_inline]] inline std::string str(const Ts&... parts) {
  return concatenated({Part(parts)...});
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
    Part(item).append_to(out);
  }
  return out;
}

}  // namespace pteron
