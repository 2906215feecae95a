// SPDX-License-Identifier: BSD-3-Clause
// The axes of a walk as kernels that use snippets/walk.wgsl take them.
#pragma once

#include <pteron/types.h>

namespace pteron::ops {

// With what kernels divide by a size (snippets/divide.wgsl). While a plan is surveyed, sizes can be 0.
constexpr u32 inverse_of(u32 size) { return size <= 1 ? UINT32_MAX : u32((u64(1) << 32) / size); }

// Innermost axis first. Strides count modulo 2³², so that one can be negative.
template <u32 lists, u32 max_axes = 8>
struct Axes {
  u32 dims[max_axes];
  u32 inverses[max_axes];
  u32 strides[lists][max_axes];

  // Drops axes of size 1, merges neighbours that every list walks through like one longer axis, and fills in the
  // inverses. Returns how many of the first `rank` axes are left, at least one.
  u32 merge(u32 rank) {
    u32 kept = 0;
    for (u32 axis = 0; axis < rank; ++axis) {
      if (dims[axis] == 1) continue;
      if (kept > 0 && continues(kept - 1, axis)) {
        dims[kept - 1] *= dims[axis];
        continue;
      }
      dims[kept] = dims[axis];
      for (u32 list = 0; list < lists; ++list) strides[list][kept] = strides[list][axis];
      ++kept;
    }
    if (kept == 0) dims[kept++] = 1;
    set_inverses(kept);
    return kept;
  }

  void set_inverses(u32 rank) {
    for (u32 axis = 0; axis < rank; ++axis) inverses[axis] = inverse_of(dims[axis]);
  }

  // After merge: does every quad read, from `base` on, either four neighbours in a quad of their own or one element?
  bool in_quads(u32 list, u32 rank, u32 base) const {
    if (dims[0] % 4 != 0) return false;
    if (strides[list][0] != 1) return strides[list][0] == 0;
    bool aligned = base % 4 == 0;
    for (u32 axis = 1; axis < rank; ++axis) aligned &= strides[list][axis] % 4 == 0;
    return aligned;
  }

 private:
  bool continues(u32 inner, u32 outer) const {
    for (u32 list = 0; list < lists; ++list)
      if (strides[list][outer] != strides[list][inner] * dims[inner]) return false;
    return true;
  }
};

}  // namespace pteron::ops
