// SPDX-License-Identifier: BSD-3-Clause
#include "graph/passes/passes.h"

#include <algorithm>
#include <array>

namespace pteron::graph {

// Weights are made whole first. Fusions that take more come before others: SwiGLU needs its two linears alone, the norm
// goes to whatever linear remains, and elementwise chains are what nobody else wanted.
std::span<const Pass* const> all_passes() {
  static constexpr std::array passes{&offsets_pass, &swiglu_pass,       &residual_pass,    &siblings_pass,
                                     &norm_pass,    &rotary_cache_pass, &elementwise_pass, &dead_code_pass};
  return passes;
}

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

Status run_passes(Graph& graph, const gpu::DeviceInfo& device, const CompileOptions& options) {
  TRY_DO(check_pass_names(options.disabled_passes));
  for (const Pass* pass : all_passes())
    if (!options.is_disabled(pass->name)) TRY_DO(within(pass->run(graph, device), "pass ", pass->name));
  return {};
}

}  // namespace pteron::graph
