// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/types.h>

#include <optional>

namespace pteron::differential {

struct Options {
  std::optional<u32> graphs;
  std::optional<u64> seed;  // of the first graph; the next one's is one more
  u32 shrink = 3;           // failures that are made simple and printed as tests
};
const Options& options();

// The beginning of a run that no one has seen.
u64 fresh_seed();

}  // namespace pteron::differential
