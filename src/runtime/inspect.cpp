// SPDX-License-Identifier: BSD-3-Clause
#include "graph/report.h"
#include "runtime/device_inside.h"
#include "runtime/method_impl.h"
#include "runtime/open_files.h"
#include "runtime/outside.h"

#include <pteron/inspect.h>

#include <algorithm>

namespace pteron {
namespace {

OpReport& entry_for(std::vector<OpReport>& reports, const std::string& name) {
  const auto found = std::find_if(reports.begin(), reports.end(), [&](const OpReport& r) { return r.name == name; });
  if (found != reports.end()) return *found;
  reports.push_back({name, 0, true, {}, {}, {}});
  return reports.back();
}

void add_kernels(std::vector<OpReport>& reports, const graph::CompiledGraph& compiled) {
  for (size_t i = 0; i < compiled.ops.size(); ++i)
    for (const graph::Variant& variant : compiled.ops[i].variants) {
      auto& kernels = entry_for(reports, compiled.graph.ops[i].name).kernels;
      const std::string name(variant.kernel.source().name);
      if (std::find(kernels.begin(), kernels.end(), name) == kernels.end()) kernels.push_back(name);
    }
}

// States that do not start at zero keep their initial values on the GPU.
Result<u64> initial_state_bytes(const graph::CompiledGraph& compiled, const OpenFiles& open) {
  u64 sum = 0;
  std::vector<std::byte> buffer;
  for (const graph::StateUse& use : compiled.states) {
    const graph::DataLocation& at = compiled.graph.constants[use.constant].location;
    bool zero = true;
    for (u64 done = 0; zero && done < at.range.size; done += graph::Loading::chunk_bytes) {
      const u64 size = std::min(graph::Loading::chunk_bytes, at.range.size - done);
      TRY(const Bytes bytes, format::fetch(*open.sources[at.source], {at.range.offset + done, size}, buffer));
      zero = std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte(0); });
    }
    if (!zero) sum += use.bytes;
  }
  return sum;
}

Status inspect_delegate(DelegateReport& report, const OpenFiles& open, const format::MethodSpec& method, u32 index,
                        const gpu::DeviceInfo& device, const LoadOptions& options, std::optional<Step> step) {
  std::vector<std::byte> buffer;
  const format::DataRange all = method.delegates[index].blob;
  TRY(const Bytes head,
      format::fetch(*open.sources[0], {all.offset, std::min(all.size, format::delegate_header_bytes)}, buffer));
  TRY(const format::DelegateHeader header, format::read_delegate_header(head, all.size));
  TRY(const Bytes blob, format::fetch(*open.sources[0], {all.offset, header.flatbuffer.end()}, buffer));
  TRY(const format::DelegateGraph parsed, format::read_delegate_graph(blob, header));
  for (const format::GraphCall& call : parsed.calls) ++entry_for(report.ops, call.name).count;
  std::vector<graph::UnsupportedOp> problems;
  TRY(const CompiledDelegate planned,
      compile_delegate_of(open.files, method, index, parsed, device, options, {}, &problems));
  for (const graph::UnsupportedOp& problem : problems) {
    OpReport& entry = entry_for(report.ops, problem.name);
    entry.supported = false;
    entry.reason = problem.reason;
    entry.positions.push_back(problem.position);
  }
  if (!problems.empty()) return {};
  const graph::CompiledGraph& compiled = *planned.graph;
  DelegateReport plan = describe_plan(compiled);
  TRY(plan.memory.initial_state, initial_state_bytes(compiled, open));
  plan.memory.total += plan.memory.initial_state;
  if (step) {
    auto costs = graph::foretell_costs(compiled, step->tokens, step->context);
    if (costs)
      plan.costs = *std::move(costs);
    else
      plan.costs_problem = costs.error().to_string();
  }
  plan.backend = std::move(report.backend);
  plan.ops = std::move(report.ops);  // as in the file, with the kernels of what they became
  add_kernels(plan.ops, compiled);
  report = std::move(plan);
  return {};
}

MethodReport inspect_method(const OpenFiles& open, const format::MethodSpec& spec, const std::string& path,
                            const gpu::DeviceInfo& device, const LoadOptions& options, std::optional<Step> step) {
  MethodReport out;
  out.info = describe_method(spec, {});
  out.outside = outside_ops(spec);
  if (spec.instructions.empty())
    for (u32 id : spec.outputs)
      if (const auto* i = std::get_if<i64>(&spec.values[id])) out.constants.push_back(*i);
  if (auto status = check_runnable(spec); !status) out.problem = status.error().to_string();
  if (std::string what = obstacles(spec); !what.empty()) {
    out.problem = std::move(what);
    out.remedy = remedy_for(spec, path);
  }
  for (u32 i = 0; i < spec.delegates.size(); ++i) {
    DelegateReport& report = out.delegates.emplace_back();
    report.backend = spec.delegates[i].id;
    if (!is_backend(report.backend)) continue;
    if (auto status = inspect_delegate(report, open, spec, i, device, options, step); !status) {
      report.error = status.error().to_string();
      if (out.problem.empty()) out.problem = report.error;
    }
    if (std::any_of(report.ops.begin(), report.ops.end(), [](const OpReport& op) { return !op.supported; }) &&
        out.problem.empty())
      out.problem = "some ops are not supported";
  }
  out.runnable = out.problem.empty();
  return out;
}

}  // namespace

DelegateReport describe_plan(const graph::CompiledGraph& compiled) {
  DelegateReport out;
  out.backend = backend_id;
  for (const auto& op : compiled.graph.ops) ++entry_for(out.ops, op.name).count;
  add_kernels(out.ops, compiled);
  out.values = u32(compiled.graph.values.size());
  out.constants = u32(compiled.graph.constants.size());
  for (const graph::Constant& c : compiled.graph.constants) out.constant_bytes += c.location.range.size;
  out.pipelines = u32(compiled.pipelines.size());
  for (const graph::OpPlan& op : compiled.ops) out.dispatches += op.slots;
  const graph::MemoryPlan& m = compiled.memory;
  out.memory = {m.weights, m.state, 0, m.activations, m.scratch, m.arena, m.staging, m.total()};
  return out;
}

Result<ProgramReport> inspect(const std::string& path, const LoadOptions& options, const Device* device,
                              std::optional<Step> step) {
  TRY(auto source, format::open_file(path));
  auto open = within(open_files(std::move(source), options.data_files), "loading ", path);
  if (!open) return Failure(std::move(open.error()));
  ProgramReport out;
  out.file_bytes = open->sources[0]->size();
  for (const auto& [key, location] : open->files.named_data)
    ++out.named_data, out.named_data_bytes += location.range.size;
  gpu::DeviceInfo info;
  out.assumptions = "WebGPU's default limits, without f16";
  if (device) {
    info = context_of(*device)->info();
    out.assumptions = info.adapter.name;
  }
  for (const format::MethodSpec& spec : open->files.spec.methods)
    out.methods.push_back(inspect_method(*open, spec, path, info, options, step));
  return out;
}

}  // namespace pteron
