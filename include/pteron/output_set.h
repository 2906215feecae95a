// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/types.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace pteron {

// Some of a method's outputs, by their number; there may be as many as there are.
class OutputSet {
 public:
  OutputSet() = default;  // none
  OutputSet(std::initializer_list<u32> outputs) {
    for (u32 output : outputs) add(output);
  }
  static OutputSet all() {
    OutputSet out;
    out.first_ = ~u64(0);
    out.rest_ = true;
    return out;
  }

  void add(u32 output) {
    if (output / 64 > more_.size()) more_.resize(output / 64, rest_ ? ~u64(0) : 0);
    (output < 64 ? first_ : more_[output / 64 - 1]) |= u64(1) << output % 64;
  }
  void add(const OutputSet& other) {
    if (other.more_.size() > more_.size()) more_.resize(other.more_.size(), rest_ ? ~u64(0) : 0);
    first_ |= other.first_;
    for (size_t i = 0; i < more_.size(); ++i) more_[i] |= other.word(i + 1);
    rest_ |= other.rest_;
  }
  void clear() {
    first_ = 0;
    more_.clear();
    rest_ = false;
  }

  bool contains(u32 output) const { return (word(output / 64) >> output % 64 & 1) != 0; }
  bool is_all() const { return rest_ && *this == all(); }
  bool intersects(const OutputSet& other) const {
    for (size_t i = 0; i < std::max(words(), other.words()); ++i)
      if ((word(i) & other.word(i)) != 0) return true;
    return rest_ && other.rest_;
  }
  friend bool operator==(const OutputSet& a, const OutputSet& b) {
    for (size_t i = 0; i < std::max(a.words(), b.words()); ++i)
      if (a.word(i) != b.word(i)) return false;
    return a.rest_ == b.rest_;
  }

 private:
  size_t words() const { return 1 + more_.size(); }
  u64 word(size_t i) const {
    if (i == 0) return first_;
    if (i <= more_.size()) return more_[i - 1];
    return rest_ ? ~u64(0) : 0;
  }

  u64 first_ = 0;          // outputs 0 to 63, so that most sets need no memory of their own
  std::vector<u64> more_;  // 64 to 127, …
  bool rest_ = false;      // all behind these, too
};

}  // namespace pteron
