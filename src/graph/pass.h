// SPDX-License-Identifier: BSD-3-Clause
// Rewrites of the op list. Each pass matches structure, never a model's name, has its own switch, and leaves answers as
// they are.
#pragma once

#include "graph/compiled.h"

namespace pteron::graph {

class Rewriter;

struct Pass {
  std::string_view name;
  std::string_view what;  // one line for --help
  void (*run)(Rewriter&, const gpu::DeviceInfo&);
};

// In the order in which they run; src/ops/passes has them.
std::span<const Pass* const> all_passes();
// What the planner does can be switched off in the same way.
struct PlannerPass {
  std::string_view name, what;
};
constexpr PlannerPass planner_passes[] = {
    {"alias-copies", "views and copies share their source's memory"},
    {"constant-folding", "ops that depend on constants alone run once"},
    {"shared-rows", "in a batch, ops whose rows don't see each other run once for all conversations"},
};
// Refuses names that switch nothing off.
Status check_pass_names(std::span<const std::string> names);
void run_passes(Graph& graph, const gpu::DeviceInfo& device, const CompileOptions& options);

}  // namespace pteron::graph
