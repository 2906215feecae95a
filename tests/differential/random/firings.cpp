// SPDX-License-Identifier: BSD-3-Clause
#include "differential/random/firings.h"

#include "base/text.h"
#include "gpu/environment.h"
#include "graph/context.h"
#include "graph/passes/pass.h"

#include <algorithm>

namespace pteron::differential {
namespace {

// Everything that passes and the planner decide, as text; what can't be planned is the same for all.
std::string plan_of(Bytes blob, const graph::CompileOptions& options) {
  const auto header = format::read_delegate_header(blob);
  const auto parsed = format::read_delegate_graph(blob, *header);
  auto graph = graph::build_graph(*parsed, {0, {0, blob.size()}}, {});
  if (!graph) return "";
  const gpu::DeviceInfo& device = test::device().context()->info();
  if (!graph::run_passes(*graph, device, options)) return "";
  std::string out;
  for (const graph::Op& op : graph->ops) out += str(op.name, " ", join(op.args), "\n");
  const auto compiled = graph::compile(*std::move(graph), device, options);
  if (!compiled) return "";
  for (const graph::OpPlan& plan : (*compiled)->ops) out += plan.is_constant ? "once " : "always ";
  return out + join((*compiled)->facts.root);
}

}  // namespace

Firings::Firings() {
  for (const std::string& name : test::without_passes().disabled_passes) fired_[name] = 0;
}

void Firings::count(const Sample& sample) {
  const std::vector<std::byte> blob = sample.graph.blob();
  const std::vector<std::string> every = test::without_passes().disabled_passes;
  graph::CompileOptions all, none;
  none.disabled_passes = every;
  const std::string with_all = plan_of(blob, all), with_none = plan_of(blob, none);
  for (auto& [name, count] : fired_) {
    graph::CompileOptions alone = none, without;
    std::erase(alone.disabled_passes, name);
    without.disabled_passes = {name};
    count += plan_of(blob, alone) != with_none || plan_of(blob, without) != with_all;
  }
}

}  // namespace pteron::differential
