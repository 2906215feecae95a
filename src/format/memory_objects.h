// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "format/delegate_graph.h"

namespace pteron::format {

// Gives tensors that are never alive together the same mem_obj, as exporters do, so that runtimes that follow the hint
// don't keep every activation of every layer. Constants, and what prepack makes of them, keep memory of their own.
void assign_memory_objects(DelegateGraph& graph);

}  // namespace pteron::format
