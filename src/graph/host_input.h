// SPDX-License-Identifier: BSD-3-Clause
// What the host gives for a graph's inputs, and what must be right about it before anything is planned.
#pragma once

#include "graph/compiled.h"

namespace pteron::graph {

// A tensor, or a number for a symbolic integer. Valid until begin returns.
struct HostInput {
  DType dtype = DType::f32;
  Shape shape;
  Bytes bytes;
  std::optional<i64> number;
};

// Numbers, types, shapes and sizes; then that indices, where they come straight from an input, are in range.
Status check_inputs(const CompiledGraph& compiled, std::span<const HostInput> inputs);

}  // namespace pteron::graph
