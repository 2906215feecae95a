// SPDX-License-Identifier: BSD-3-Clause
#include "graph/passes/pass.h"

namespace pteron::graph {

std::span<const Pass> all_passes() { return {}; }

Status run_passes(Graph& graph, const CompileOptions& options) {
  for (const Pass& pass : all_passes())
    if (!options.is_disabled(pass.name)) TRY_DO(within(pass.run(graph), "pass ", pass.name));
  return {};
}

}  // namespace pteron::graph
