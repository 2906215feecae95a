// SPDX-License-Identifier: BSD-3-Clause
// A graph that ends the process, or never ends, would take its seed along: it is printed first.
#pragma once

#include <pteron/types.h>

namespace pteron::differential {

void catch_crashes();

// The graph of `seed` is under way, for so many seconds at most.
class Patience {
 public:
  Patience(u64 seed, u32 seconds);
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
  ~Patience();
};

}  // namespace pteron::differential
