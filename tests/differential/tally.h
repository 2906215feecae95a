// SPDX-License-Identifier: BSD-3-Clause
// What a run over many graphs says in the end, for people and for tools/graphs.
#pragma once

#include <pteron/types.h>

#include <cinttypes>
#include <cstdio>

namespace pteron::differential {

struct Tally {
  u32 graphs = 0, ops = 0;
  u32 compared = 0;  // with the reference
  u32 refused = 0;
  u32 unknown = 0;  // computed in several ways, but the reference does not know it
  u32 differ = 0;

  void print(const char* kind, u64 first) const {
    std::printf("%s: {\"first\": %" PRIu64
                ", \"graphs\": %u, \"ops\": %u, \"compared\": %u, \"refused\": %u, "
                "\"unknown\": %u, \"differ\": %u}\n",
                kind, first, graphs, ops, compared, refused, unknown, differ);
  }
};

}  // namespace pteron::differential
