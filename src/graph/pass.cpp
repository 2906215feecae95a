// SPDX-License-Identifier: BSD-3-Clause
#include "graph/pass.h"

#include "graph/rewriter.h"

#include <algorithm>

namespace pteron::graph {

Status check_pass_names(std::span<const std::string> names) {
  for (const std::string& name : names) {
    const auto is_it = [&](const Pass* pass) { return pass->name == name; };
    if (std::ranges::find(planner_passes, name, &PlannerPass::name) != std::end(planner_passes) ||
        std::ranges::any_of(all_passes(), is_it))
      continue;
    std::string known;
    for (const PlannerPass& pass : planner_passes) known += str(known.empty() ? "" : ", ", pass.name);
    for (const Pass* pass : all_passes()) known += str(", ", pass->name);
    return invalid("there is no pass '", name, "' to disable; there are: ", known);
  }
  return {};
}

void run_passes(Graph& graph, const gpu::DeviceInfo& device, const CompileOptions& options) {
  Rewriter rewriter(graph);
  for (const Pass* pass : all_passes()) {
    if (options.is_disabled(pass->name)) continue;
    pass->run(rewriter, device);
    rewriter.commit();
  }
}

}  // namespace pteron::graph
