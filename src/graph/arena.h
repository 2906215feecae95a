// SPDX-License-Identifier: BSD-3-Clause
// Parameters and small inputs: the host's copy of a buffer, and which part of it is to be written again.
#pragma once

#include "base/error.h"

#include <pteron/types.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace pteron::graph {

class Arena {
 public:
  explicit Arena(u64 bytes) : bytes_(bytes) {}

  u64 size() const { return bytes_.size(); }
  void put(u64 offset, Bytes bytes) {
    if (std::memcmp(bytes_.data() + offset, bytes.data(), bytes.size()) == 0) return;
    std::memcpy(bytes_.data() + offset, bytes.data(), bytes.size());
    mark(offset, offset + (bytes.size() + 3) / 4 * 4);
  }
  // To be filled by the caller.
  MutableBytes open(u64 offset, u64 size) {
    mark(offset, offset + size);
    return MutableBytes(bytes_).subspan(offset, size);
  }

  // What changed since the last settle(), as one piece.
  u64 changed_at() const { return begin_; }
  Bytes changed() const { return begin_ < end_ ? Bytes(bytes_).subspan(begin_, end_ - begin_) : Bytes(); }
  void settle() { begin_ = UINT64_MAX, end_ = 0; }

 private:
  void mark(u64 begin, u64 end) {
    begin_ = std::min(begin_, begin);
    end_ = std::max(end_, end);
  }

  std::vector<std::byte> bytes_;
  u64 begin_ = UINT64_MAX, end_ = 0;
};

}  // namespace pteron::graph
