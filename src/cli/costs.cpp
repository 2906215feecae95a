// SPDX-License-Identifier: BSD-3-Clause
#include "cli/costs.h"

#include <algorithm>
#include <cstdio>

namespace pteron::cli {

nlohmann::ordered_json costs_to_json(std::span<const DispatchCost> costs) {
  auto out = nlohmann::ordered_json::array();
  for (const DispatchCost& cost : costs)
    out.push_back({{"op", cost.op},
                   {"kernel", cost.kernel},
                   {"route", cost.route},
                   {"workgroups", cost.workgroups},
                   {"threads", cost.threads},
                   {"bytes", cost.bytes},
                   {"operations", cost.operations},
                   {"warning", cost.warning}});
  return out;
}

void print_costs(std::span<const DispatchCost> costs) {
  struct Line {
    const DispatchCost* cost;
    u32 count;
  };
  std::vector<Line> lines;
  for (const DispatchCost& cost : costs) {
    const auto same = std::ranges::find_if(lines, [&](const Line& line) {
      const DispatchCost& c = *line.cost;
      return c.kernel == cost.kernel && c.workgroups == cost.workgroups && c.bytes == cost.bytes &&
             c.operations == cost.operations && c.op == cost.op;
    });
    if (same != lines.end())
      ++same->count;
    else
      lines.push_back({&cost, 1});
  }
  std::printf("    %-24s %5s %11s %8s %12s %14s\n", "kernel", "times", "workgroups", "threads", "bytes", "operations");
  DispatchCost total;
  for (const auto& [c, count] : lines) {
    std::printf("    %-24s %5u %11llu %8u %12llu %14llu  %s\n", c->kernel.c_str(), count,
                static_cast<unsigned long long>(c->workgroups), c->threads, static_cast<unsigned long long>(c->bytes),
                static_cast<unsigned long long>(c->operations), c->warning.c_str());
    total.bytes += count * c->bytes;
    total.operations += count * c->operations;
  }
  std::printf("    %-24s %5zu %11s %8s %12llu %14llu\n", "in all", costs.size(), "", "",
              static_cast<unsigned long long>(total.bytes), static_cast<unsigned long long>(total.operations));
}

}  // namespace pteron::cli
