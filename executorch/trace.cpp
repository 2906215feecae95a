// SPDX-License-Identifier: BSD-3-Clause
#include "trace.h"

#include <executorch/runtime/core/event_tracer_hooks_delegate.h>
#include <executorch/runtime/platform/platform.h>

namespace pteron::et {

void log_ops(executorch::runtime::EventTracer& tracer, const graph::Runner& runner, u64 start) {
  const et_tick_ratio_t ratio = et_pal_ticks_to_ns_multiplier();
  const auto ticks = [&](u64 nanoseconds) {
    return nanoseconds * ratio.denominator / std::max<u64>(ratio.numerator, 1);
  };
  u64 at = start;
  const auto times = graph::profile_of(runner);
  for (size_t i = 0; i < times.size();) {
    // An op may have run several kernels: one event.
    const graph::Op& op = runner.compiled().graph.ops[times[i].op];
    u64 nanoseconds = 0;
    const u32 index = times[i].op;
    for (; i < times.size() && times[i].op == index; ++i) nanoseconds += times[i].nanoseconds;
    const u64 end = at + ticks(nanoseconds);
    const std::string name = str(op.name, "#", op.node_id);
    executorch::runtime::event_tracer_log_profiling_delegate(&tracer, name.c_str(),
                                                             executorch::runtime::kUnsetDelegateDebugIntId, at, end);
    at = end;
  }
}

}  // namespace pteron::et
