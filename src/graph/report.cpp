// SPDX-License-Identifier: BSD-3-Clause
#include "graph/report.h"

namespace pteron::graph {

std::vector<OpTime> profile_of(const Runner& runner) {
  std::vector<OpTime> out;
  const auto durations = runner.flight().durations();
  const auto work = runner.flight().work();
  for (size_t i = 0; i < durations.size() && i < work.size(); ++i)
    out.push_back(
        {work[i].op, work[i].variant->kernel.source().name, durations[i], runner.planner().route(work[i].op)});
  return out;
}

}  // namespace pteron::graph
