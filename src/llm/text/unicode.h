// SPDX-License-Identifier: BSD-3-Clause
// Facts about characters. The tables are made at build time from unicode.txt, which pins the versions of Unicode.
#pragma once

#include <pteron/types.h>

#include <span>
#include <string>
#include <string_view>

namespace pteron::unicode {

constexpr u32 code_points = 0x110000;

// General categories, in the order of tools/embed_unicode.py.
constexpr std::string_view category_names[] = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl",
                                               "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc",
                                               "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn"};

// `length` is 1: the `count` characters from `first` on become `to` and the ones that follow it.
// Else there is one character, and it becomes `length` characters of mapping_pool from `to` on.
struct Mapping {
  u32 first, to;
  u16 count, length;
};
struct Composition {
  u32 first, second, composed;
};
struct Range {
  u32 first, last;
  bool operator==(const Range&) const = default;
};
struct CombiningRun {
  u32 first;
  u16 count;
  u8 combining_class;
};

// Each run lasts until the next one: first code point << 5 | index of the category.
extern const std::span<const u32> category_runs;
extern const std::span<const u32> mapping_pool;
extern const std::span<const Mapping> lowercase, uppercase, titlecase, canonical, compatible;
extern const std::span<const Range> digits;              // such as superscripts, which are not decimal
extern const std::span<const Composition> compositions;  // sorted
extern const std::span<const CombiningRun> combining_runs;

enum class Form { nfd, nfc, nfkd, nfkc };
std::string normalize(std::string_view text, Form form);
std::string to_lowercase(std::string_view text);
// Whether the table has something for the character, which is then appended.
bool append_mapped(std::string& out, u32 code, std::span<const Mapping> table);
std::string_view category(u32 code);
bool is_space(u32 code);

}  // namespace pteron::unicode
