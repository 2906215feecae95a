// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <array>
#include <initializer_list>

namespace pteron {

// The sizes of a row-major tensor. A plain value: copied, compared, never allocates. Rank 0 is a scalar. With more than
// `max_rank` sizes it is no tensor's shape: its rank is max_rank + 1, which nothing accepts.
class Shape {
 public:
  static constexpr u32 max_rank = 8;

  constexpr Shape() = default;
  constexpr Shape(std::initializer_list<u32> dims) {
    for (u32 d : dims) push_back(d);
  }
  static Result<Shape> from(std::span<const u32> dims);
  static Result<Shape> from(std::span<const i64> dims);

  constexpr u32 rank() const { return rank_; }
  constexpr u32 operator[](u32 axis) const { return dims_[axis]; }
  constexpr u32& operator[](u32 axis) { return dims_[axis]; }
  // Counts from the back when negative: dim(-1) is the innermost. Axes that are not there have size 1.
  constexpr u32 dim(i32 axis) const {
    const u32 i = axis < 0 ? u32(i32(rank_) + axis) : u32(axis);
    return i < rank_ ? dims_[i] : 1;
  }
  constexpr const u32* begin() const { return dims_.data(); }
  constexpr const u32* end() const { return dims_.data() + rank_; }

  // The product of all sizes (1 for a scalar), UINT64_MAX if it does not fit.
  constexpr u64 numel() const { return product(0, rank_); }
  // The product of the sizes of the axes [first, last).
  constexpr u64 product(u32 first, u32 last) const {
    u64 n = 1;
    for (u32 i = first; i < last; ++i) {
      if (dims_[i] == 0) return 0;
      if (n > UINT64_MAX / dims_[i])
        n = UINT64_MAX;
      else
        n *= dims_[i];
    }
    return n;
  }

  constexpr void push_back(u32 d) {
    if (rank_ < dims_.size()) dims_[rank_++] = d;
  }
  constexpr bool fits_in(const Shape& max) const {
    if (rank_ != max.rank_) return false;
    for (u32 i = 0; i < rank_; ++i)
      if (dims_[i] > max.dims_[i]) return false;
    return true;
  }
  friend constexpr bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (u32 i = 0; i < a.rank_; ++i)
      if (a.dims_[i] != b.dims_[i]) return false;
    return true;
  }

 private:
  u32 rank_ = 0;
  std::array<u32, max_rank + 1> dims_{};
};

std::string to_string(const Shape& shape);  // "[1, 127, 8]"

}  // namespace pteron
