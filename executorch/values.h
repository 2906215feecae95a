// SPDX-License-Identifier: BSD-3-Clause
// EValues of the runtime and the engine's host values.
#pragma once

#include "graph/runner.h"

#include <executorch/runtime/core/evalue.h>

namespace pteron::et {

// `storage` holds the bytes of a number that the graph wants as a tensor.
Result<graph::HostInput> to_host_input(const executorch::runtime::EValue& value, bool wants_tensor, i64& storage);
// Resizes the EValue to the live shape and fills it.
Status write_output(executorch::runtime::EValue& value, const graph::Runner& runner, u32 output);

}  // namespace pteron::et
