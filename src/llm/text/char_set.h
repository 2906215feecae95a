// SPDX-License-Identifier: BSD-3-Clause
// Sets of code points, as the classes of a pattern name them.
#pragma once

#include "llm/text/unicode.h"

#include <array>
#include <optional>
#include <vector>

namespace pteron {

// Sorted ranges that neither touch nor overlap.
class CharSet {
 public:
  using Range = unicode::Range;

  CharSet() = default;
  CharSet(std::initializer_list<Range> ranges);
  // A general category ("Lu"), a group of them ("L") or a script ("Han").
  static std::optional<CharSet> property(std::string_view name);
  static CharSet all() { return CharSet().complement(); }
  static CharSet space();
  static CharSet digit();
  static CharSet word();  // letters, marks, digits and what joins them

  void add(u32 first, u32 last);
  void add(const CharSet& other);
  CharSet complement() const;
  CharSet intersection(const CharSet& other) const;
  // With the other case of each ASCII letter, and what Unicode folds into one.
  CharSet case_insensitive() const;

  const std::vector<Range>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  bool is_ascii() const { return empty() || ranges_.back().last < 0x80; }
  bool operator==(const CharSet&) const = default;

 private:
  std::vector<Range> ranges_;
};

// The same for quick questions: bits for ASCII; beyond it a few ranges, or bits in blocks of 256 with equal ones
// shared.
class CharTable {
 public:
  explicit CharTable(const CharSet& set);

  bool contains(u32 code) const {
    if (code < 128) return ascii_[code >> 6] >> (code & 63) & 1;
    return contains_beyond_ascii(code);
  }

 private:
  using Block = std::array<u64, 4>;

  bool contains_beyond_ascii(u32 code) const;
  void fill_blocks(const CharSet& set);

  std::array<u64, 2> ascii_{};
  std::vector<CharSet::Range> few_;
  std::vector<u16> block_of_;
  std::vector<Block> blocks_;
};

}  // namespace pteron
