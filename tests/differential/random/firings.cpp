// SPDX-License-Identifier: BSD-3-Clause
#include "differential/random/firings.h"

#include "base/text.h"
#include "differential/engine.h"
#include "gpu/environment.h"
#include "graph/pass.h"
#include "runtime/device_inside.h"

#include <algorithm>

namespace pteron::differential {
namespace {

// Everything that passes and the planner decide, as text; what can't be planned is the same for all.
std::string plan_of(Bytes blob, const graph::CompileOptions& options) {
  const auto header = format::read_delegate_header(blob);
  const auto parsed = format::read_delegate_graph(blob, *header);
  auto graph = graph::build_graph(*parsed, {0, {0, blob.size()}}, {});
  if (!graph) return "";
  const gpu::DeviceInfo& device = context_of(engine())->info();
  const auto compiled = graph::compile(*std::move(graph), device, options);
  if (!compiled) return "";
  std::string out;
  for (const graph::Op& op : (*compiled)->graph.ops) out += str(op.name, " ", join(op.args), "\n");
  for (const graph::OpPlan& plan : (*compiled)->ops)
    out += plan.is_constant && !plan.variants.empty() ? "once " : "always ";
  for (u32 id = 0; id < (*compiled)->graph.values.size(); ++id) out += str(" ", (*compiled)->facts.effects.memory(id));
  return out;
}

}  // namespace

Firings::Firings() {
  for (const std::string& name : test::without_passes().disabled_passes) fired_[name] = 0;
}

// Some passes remove dead ops behind them, so the others are looked at beside the one that does nothing else.
void Firings::count(const Sample& sample) {
  static constexpr const char* removes = "dead-code";
  const std::vector<std::byte> blob = sample.graph.blob();
  const auto with = [&](std::vector<std::string> passes) {
    graph::CompileOptions options;
    for (const auto& [name, count] : fired_)
      if (std::ranges::find(passes, name) == passes.end()) options.disabled_passes.push_back(name);
    return plan_of(blob, options);
  };
  const auto without = [&](std::vector<std::string> passes) {
    graph::CompileOptions options;
    options.disabled_passes = std::move(passes);
    return plan_of(blob, options);
  };
  const std::string none = with({}), cleaned = with({removes}), all = without({});
  for (auto& [name, count] : fired_)
    count += name == removes ? cleaned != none : with({name, removes}) != cleaned || without({name}) != all;
}

}  // namespace pteron::differential
