// SPDX-License-Identifier: BSD-3-Clause
// Whether the engine computes a graph, without a GPU and without the constants' bytes: what an exporter asks.
#pragma once

#include "format/delegate_graph.h"

namespace pteron {

// Plans for WebGPU's default limits without f16. `input_is_static`: by input; missing: its shape may vary.
Status check_graph(const format::DelegateGraph& graph, std::vector<u8> input_is_static = {});

// The same for a delegate as it stands in a file. Keys of constants count as known.
Status check_delegate(Bytes blob);

}  // namespace pteron
