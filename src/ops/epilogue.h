// SPDX-License-Identifier: BSD-3-Clause
// Shortens an output on the GPU: see Epilogue.
#pragma once

#include "graph/graph.h"

#include <pteron/program.h>

namespace pteron::ops {

// Appends an op and its results to the graph's outputs. epilogue.output counts the graph's outputs.
Status append_epilogue(graph::Graph& graph, const Epilogue& epilogue);

}  // namespace pteron::ops
