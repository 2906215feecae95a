// SPDX-License-Identifier: BSD-3-Clause
// A graph that ends the process, or never ends, would take its seed along: it is printed first.
#pragma once

#include <pteron/types.h>

namespace pteron::differential {

void catch_crashes();

constexpr u32 patience = 120;  // seconds for one graph

// The graph of `seed` is under way, for so many seconds at most.
class Patience {
 public:
  explicit Patience(u64 seed, u32 seconds = patience);
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
  ~Patience();
};

}  // namespace pteron::differential
