// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "graph/report.h"

#include <executorch/runtime/core/event_tracer.h>

namespace pteron::et {

// Writes the GPU time of every op of the last step to the tracer, one after the other from `start` on.
void log_ops(executorch::runtime::EventTracer& tracer, const graph::Runner& runner, u64 start);

}  // namespace pteron::et
