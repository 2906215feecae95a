// SPDX-License-Identifier: BSD-3-Clause
#include "graph/passes/passes.h"

#include <array>

namespace pteron::graph {

// Weights are made whole first. Fusions that take more come before others: SwiGLU needs its two linears alone, the norm
// goes to whatever linear remains.
std::span<const Pass* const> all_passes() {
  static constexpr std::array passes{&offsets_pass, &swiglu_pass,       &residual_pass, &siblings_pass,
                                     &norm_pass,    &rotary_cache_pass, &dead_code_pass};
  return passes;
}

Status run_passes(Graph& graph, const gpu::DeviceInfo& device, const CompileOptions& options) {
  for (const Pass* pass : all_passes())
    if (!options.is_disabled(pass->name)) TRY_DO(within(pass->run(graph, device), "pass ", pass->name));
  return {};
}

}  // namespace pteron::graph
