// SPDX-License-Identifier: BSD-3-Clause
// Rewrites of the op list. Each pass matches structure, never a model's name, has its own switch, and leaves answers as
// they are.
#pragma once

#include "graph/compiled.h"

namespace pteron::graph {

struct Pass {
  std::string_view name;
  std::string_view what;  // one line for --help
  Status (*run)(Graph&, const gpu::DeviceInfo&);
};

std::span<const Pass* const> all_passes();
// Refuses names that switch nothing off.
Status check_pass_names(std::span<const std::string> names);
Status run_passes(Graph& graph, const gpu::DeviceInfo& device, const CompileOptions& options);

}  // namespace pteron::graph
