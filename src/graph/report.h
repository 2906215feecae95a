// SPDX-License-Identifier: BSD-3-Clause
// What the last step of a runner was made of.
#pragma once

#include "graph/runner.h"

#include <pteron/program.h>

namespace pteron::graph {

struct OpTime {
  u32 op = 0;  // index into the graph's ops
  std::string_view kernel;
  u64 nanoseconds = 0;
  std::string route;
};

// By dispatch; empty without profiling.
std::vector<OpTime> profile_of(const Runner& runner);

// A model of the bytes that a step moves, from what its dispatches bind: a constant is read whole, a tensor as far as
// it is live, a cache as far as it is filled. Ops that look rows up, by index or by position, touch as much of a
// constant as they write.
MemoryTraffic traffic_of(const Runner& runner, u32 positions);

// The same by dispatch, for a step that has been planned, and what it asks of a GPU besides.
std::vector<DispatchCost> costs_of(const CompiledGraph& compiled, const Planner& planner, u32 positions);

// Plans a step without a GPU, and says what it would cost: `tokens` more behind `context` positions of a decoder, which
// is a program with caches; any other at its largest shapes.
Result<std::vector<DispatchCost>> foretell_costs(const CompiledGraph& compiled, u32 tokens, u32 context);

}  // namespace pteron::graph
