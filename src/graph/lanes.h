// SPDX-License-Identifier: BSD-3-Clause
// Makes of a compiled program one that works for several conversations in one step. It is a graph like any other, in
// which an op stands once for each lane (each conversation), with its own inputs, state, positions and results; only
// ops whose rows don't see each other stand there once, over the rows of all lanes.
//
// A value that depends on an input or on state has a tensor for each lane. Where a shared op uses it, these lie behind
// each other in one tensor, whose leading axis counts lanes. Shapes are those of one kind of step, which the given
// inputs stand for: one token for each lane, say. So memory is that of a few rows, whatever the program allows.
#pragma once

#include "graph/host_input.h"

namespace pteron::graph {

// For steps with inputs of these shapes. An error if the program's results depend on more than that: a shape that
// follows a position is no problem, one that follows the contents of a tensor is.
Result<std::shared_ptr<const CompiledGraph>> compile_lanes(const CompiledGraph& single, u32 lanes,
                                                           std::span<const HostInput> inputs,
                                                           const CompileOptions& options);

}  // namespace pteron::graph
