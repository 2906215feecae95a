// SPDX-License-Identifier: BSD-3-Clause
#include "llm/text/char_set.h"

#include <algorithm>
#include <map>

namespace pteron {
namespace {

CharSet han() {
  return {{0x2E80, 0x2E99},   {0x2E9B, 0x2EF3},   {0x2F00, 0x2FD5},   {0x3005, 0x3005},   {0x3007, 0x3007},
          {0x3021, 0x3029},   {0x3038, 0x303B},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFA6D},
          {0xFA70, 0xFAD9},   {0x16FE2, 0x16FE3}, {0x16FF0, 0x16FF1}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B739},
          {0x2B740, 0x2B81D}, {0x2B820, 0x2CEA1}, {0x2CEB0, 0x2EBE0}, {0x2EBF0, 0x2EE5D}, {0x2F800, 0x2FA1D},
          {0x30000, 0x3134A}, {0x31350, 0x323AF}};
}

}  // namespace

CharSet::CharSet(std::initializer_list<Range> ranges) {
  for (const Range& r : ranges) add(r.first, r.last);
}

std::optional<CharSet> CharSet::property(std::string_view name) {
  if (name == "Han") return han();
  CharSet out;
  bool known = false;
  for (u32 category = 0; category < std::size(unicode::category_names); ++category) {
    if (name.empty() || !unicode::category_names[category].starts_with(name)) continue;
    known = true;
    for (size_t i = 0; i < unicode::category_runs.size(); ++i) {
      if ((unicode::category_runs[i] & 31) != category) continue;
      const bool last = i + 1 == unicode::category_runs.size();
      out.add(unicode::category_runs[i] >> 5,
              last ? unicode::code_points - 1 : (unicode::category_runs[i + 1] >> 5) - 1);
    }
  }
  if (!known) return std::nullopt;
  return out;
}

CharSet CharSet::space() {
  CharSet out;
  for (u32 code = 0; code <= 0x3000; ++code)
    if (unicode::is_space(code)) out.add(code, code);
  return out;
}

CharSet CharSet::digit() { return *property("Nd"); }

CharSet CharSet::word() {
  CharSet out;
  for (const char* name : {"L", "M", "Nd", "Nl", "Pc"}) out.add(*property(name));
  // Circled and squared letters are alphabetic symbols; the reference also counts Latin-1's superscripts and fractions.
  for (const Range& r : {Range{0x24B6, 0x24E9},
                         {0x1F130, 0x1F149},
                         {0x1F150, 0x1F169},
                         {0x1F170, 0x1F189},
                         {0xB2, 0xB3},
                         {0xB9, 0xB9},
                         {0xBC, 0xBE}})
    out.add(r.first, r.last);
  return out;
}

void CharSet::add(u32 first, u32 last) {
  // All ranges that touch the new one become part of it.
  auto begin = std::lower_bound(ranges_.begin(), ranges_.end(), first,
                                [](const Range& r, u32 code) { return r.last + 1 < code; });
  auto end = begin;
  for (; end != ranges_.end() && end->first <= last + 1; ++end) {
    first = std::min(first, end->first);
    last = std::max(last, end->last);
  }
  if (begin == end) {
    ranges_.insert(begin, {first, last});
    return;
  }
  *begin = {first, last};
  ranges_.erase(begin + 1, end);
}

void CharSet::add(const CharSet& other) {
  for (const Range& r : other.ranges_) add(r.first, r.last);
}

CharSet CharSet::complement() const {
  CharSet out;
  u32 next = 0;
  for (const Range& r : ranges_) {
    if (r.first > next) out.ranges_.push_back({next, r.first - 1});
    next = r.last + 1;
  }
  if (next < unicode::code_points) out.ranges_.push_back({next, unicode::code_points - 1});
  return out;
}

CharSet CharSet::intersection(const CharSet& other) const {
  CharSet out;
  for (auto a = ranges_.begin(), b = other.ranges_.begin(); a != ranges_.end() && b != other.ranges_.end();) {
    const Range common{std::max(a->first, b->first), std::min(a->last, b->last)};
    if (common.first <= common.last) out.ranges_.push_back(common);
    a->last < b->last ? ++a : ++b;
  }
  return out;
}

CharSet CharSet::case_insensitive() const {
  const auto has = [&](u32 code) {
    return std::any_of(ranges_.begin(), ranges_.end(),
                       [&](const Range& r) { return r.first <= code && code <= r.last; });
  };
  CharSet out = *this;
  for (u32 lower = 'a'; lower <= 'z'; ++lower) {
    const u32 upper = lower - 'a' + 'A';
    // The long s and the kelvin sign are the only others that fold into an ASCII letter.
    const u32 other = lower == 's' ? 0x17F : lower == 'k' ? 0x212A : lower;
    if (has(lower) || has(upper) || has(other))
      for (u32 code : {lower, upper, other}) out.add(code, code);
  }
  return out;
}

CharTable::CharTable(const CharSet& set) {
  for (const CharSet::Range& r : set.ranges()) {
    for (u32 code = r.first; code <= std::min(r.last, 127u); ++code) ascii_[code >> 6] |= u64(1) << (code & 63);
    if (r.last >= 128) few_.push_back({std::max(r.first, 128u), r.last});
  }
  constexpr size_t few = 4;
  if (few_.size() <= few) return;
  few_.clear();
  fill_blocks(set);
}

void CharTable::fill_blocks(const CharSet& set) {
  std::map<Block, u16> known;
  auto range = set.ranges().begin();
  for (u32 start = 0; start < unicode::code_points; start += 256) {
    Block block{};
    while (range != set.ranges().end() && range->last < start) ++range;
    for (auto r = range; r != set.ranges().end() && r->first < start + 256; ++r)
      for (u32 code = std::max(r->first, start); code <= std::min(r->last, start + 255); ++code)
        block[code >> 6 & 3] |= u64(1) << (code & 63);
    const auto [it, added] = known.emplace(block, u16(blocks_.size()));
    if (added) blocks_.push_back(block);
    block_of_.push_back(it->second);
  }
}

bool CharTable::contains_beyond_ascii(u32 code) const {
  if (!block_of_.empty()) return blocks_[block_of_[code >> 8]][code >> 6 & 3] >> (code & 63) & 1;
  return std::any_of(few_.begin(), few_.end(),
                     [&](const CharSet::Range& r) { return r.first <= code && code <= r.last; });
}

}  // namespace pteron
