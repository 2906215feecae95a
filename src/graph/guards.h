// SPDX-License-Identifier: BSD-3-Clause
// Finds kernels that write behind their results: see CompiledGraph::guards. Nothing is done unless they were asked for.
#pragma once

#include "graph/working_memory.h"

namespace pteron::graph {

// Paints all of the memory: what a kernel forgets to write does not look like a zero.
Status paint_guards(const LoadedGraph& loaded, const WorkingMemory& memory);
Status check_guards(const LoadedGraph& loaded, const WorkingMemory& memory);

}  // namespace pteron::graph
