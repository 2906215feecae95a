// SPDX-License-Identifier: BSD-3-Clause
#include "cli/info.h"
#include "cli/costs.h"
#include "cli/print_json.h"
#include "graph/pass.h"

#include <pteron/inspect.h>

#include <cstdio>

namespace pteron::cli {
namespace {

using Json = nlohmann::json;

Json to_json(const ValueInfo& v) {
  if (!v.is_tensor) return {{"kind", "number"}, {"dtype", name_of(v.dtype)}};
  return {{"kind", "tensor"},
          {"dtype", name_of(v.dtype)},
          {"shape", std::vector<u32>(v.shape.begin(), v.shape.end())},
          {"dynamic", v.dynamic}};
}

Json to_json(const DelegateReport& d) {
  Json ops = Json::array();
  for (const OpReport& op : d.ops) {
    Json entry{{"name", op.name}, {"count", op.count}, {"supported", op.supported}, {"kernels", op.kernels}};
    if (!op.supported) entry["reason"] = op.reason, entry["positions"] = op.positions;
    ops.push_back(std::move(entry));
  }
  const MemoryReport& m = d.memory;
  return {{"backend", d.backend},
          {"error", d.error},
          {"ops", std::move(ops)},
          {"values", d.values},
          {"constants", d.constants},
          {"constant_bytes", d.constant_bytes},
          {"pipelines", d.pipelines},
          {"dispatches", d.dispatches},
          {"costs", costs_to_json(d.costs)},
          {"costs_problem", d.costs_problem},
          {"memory",
           {{"weights", m.weights},
            {"state", m.state},
            {"initial_state", m.initial_state},
            {"activations", m.activations},
            {"scratch", m.scratch},
            {"parameters", m.parameters},
            {"staging", m.staging},
            {"total", m.total}}}};
}

Json to_json(const OutsideOp& op) {
  return {
      {"name", op.name}, {"count", op.count}, {"forms", op.forms}, {"reason", op.reason}, {"runs_here", op.runs_here}};
}

Json to_json(const ProgramReport& report) {
  Json methods = Json::array();
  for (const MethodReport& m : report.methods) {
    Json entry{{"name", m.info.name},
               {"runnable", m.runnable},
               {"problem", m.problem},
               {"remedy", {{"what", m.remedy.what}, {"python", m.remedy.python}}},
               {"constants", m.constants}};
    entry["inputs"] = entry["outputs"] = entry["outside"] = entry["delegates"] = Json::array();
    for (const OutsideOp& op : m.outside) entry["outside"].push_back(to_json(op));
    for (const ValueInfo& v : m.info.inputs) entry["inputs"].push_back(to_json(v));
    for (const ValueInfo& v : m.info.outputs) entry["outputs"].push_back(to_json(v));
    for (const DelegateReport& d : m.delegates) entry["delegates"].push_back(to_json(d));
    methods.push_back(std::move(entry));
  }
  return {{"file_bytes", report.file_bytes},
          {"named_data", report.named_data},
          {"named_data_bytes", report.named_data_bytes},
          {"planned_for", report.assumptions},
          {"methods", std::move(methods)}};
}

std::string describe(const ValueInfo& v) {
  if (!v.is_tensor) return str(v.dtype, " number");
  return str(v.dtype, " ", v.shape, v.dynamic ? " (upper bounds)" : "");
}

void print_delegate(const DelegateReport& d) {
  if (!d.error.empty()) return void(std::printf("    error: %s\n", d.error.c_str()));
  if (d.ops.empty()) return void(std::printf("    not looked into\n"));
  std::printf("    %-52s %6s  %s\n", "op", "count", "kernels");
  for (const OpReport& op : d.ops) {
    std::printf("    %-52s %6u  %s\n", op.name.c_str(), op.count,
                op.supported ? join(op.kernels).c_str() : "UNSUPPORTED");
    if (!op.supported) std::printf("      at %s: %s\n", join(op.positions).c_str(), op.reason.c_str());
  }
  const MemoryReport& m = d.memory;
  if (m.total == 0) return;
  std::printf("    constants in the file: %u, %s; kernels to compile: %u; dispatches per run: up to %u\n", d.constants,
              human_bytes(d.constant_bytes).c_str(), d.pipelines, d.dispatches);
  std::printf("    GPU memory: %llu bytes (%s)\n", static_cast<unsigned long long>(m.total),
              human_bytes(m.total).c_str());
  const std::pair<const char*, u64> rows[] = {
      {"weights", m.weights},         {"state (KV caches)", m.state}, {"initial state", m.initial_state},
      {"activations", m.activations}, {"  of it scratch", m.scratch}, {"parameters and inputs", m.parameters},
      {"staging", m.staging}};
  for (const auto& [name, bytes] : rows)
    std::printf("      %-22s %14llu\n", name, static_cast<unsigned long long>(bytes));
  if (!d.costs.empty()) print_costs(d.costs);
}

void print_report(const std::string& path, const ProgramReport& report) {
  std::printf("%s: %s, %u named data entries (%s)\n", path.c_str(), human_bytes(report.file_bytes).c_str(),
              report.named_data, human_bytes(report.named_data_bytes).c_str());
  std::printf("planned for %s\n", report.assumptions.c_str());
  for (const MethodReport& m : report.methods) {
    if (m.delegates.empty() && m.outside.empty() && !m.constants.empty()) {
      std::printf("method %s = %s\n", m.info.name.c_str(), join(m.constants).c_str());
      continue;
    }
    std::printf("method %s%s%s\n", m.info.name.c_str(), m.runnable ? "" : ": can't run here: ", m.problem.c_str());
    for (size_t i = 0; i < m.info.inputs.size(); ++i)
      std::printf("  input %zu: %s\n", i, describe(m.info.inputs[i]).c_str());
    for (size_t i = 0; i < m.info.outputs.size(); ++i)
      std::printf("  output %zu: %s\n", i, describe(m.info.outputs[i]).c_str());
    for (size_t i = 0; i < m.delegates.size(); ++i) {
      std::printf("  delegate %zu of %zu (%s)\n", i, m.delegates.size(), m.delegates[i].backend.c_str());
      print_delegate(m.delegates[i]);
    }
    print_outside(stdout, m);
  }
}

struct Options : Common {
  std::string model;
  bool passes = false;
  bool cost = false;
  Step step;
};

int run(const Options& options) {
  if (options.passes) {
    for (const graph::PlannerPass& pass : graph::planner_passes)
      std::printf("%-18.*s %.*s\n", int(pass.name.size()), pass.name.data(), int(pass.what.size()), pass.what.data());
    for (const graph::Pass* pass : graph::all_passes())
      std::printf("%-18s %s\n", std::string(pass->name).c_str(), std::string(pass->what).c_str());
    return ok;
  }
  if (options.model.empty()) {
    std::fprintf(stderr, "pteron: info needs a program: pteron info MODEL.pte\n");
    return usage;
  }
  const auto load = options.load_options();
  if (!load) return report(load.error());
  std::optional<Device> device;
  if (!load->device_options.adapter.empty()) {
    auto opened = Device::open(load->device_options);
    if (!opened) return report(opened.error());
    device = *std::move(opened);
  }
  auto program = inspect(options.model, *load, device ? &*device : nullptr,
                         options.cost ? std::optional(options.step) : std::nullopt);
  if (!program) return report(program.error());
  if (options.json)
    print_json(to_json(*program));
  else
    print_report(options.model, *program);
  for (const MethodReport& method : program->methods)
    for (const DelegateReport& d : method.delegates)
      if (!d.costs_problem.empty()) return report(invalid("the costs can't be told: ", d.costs_problem).error());
  return ok;
}

}  // namespace

void print_outside(std::FILE* stream, const MethodReport& method) {
  if (!method.outside.empty()) std::fprintf(stream, "  outside of the delegates\n");
  for (const OutsideOp& op : method.outside) {
    std::fprintf(stream, "    %-52s %6u  %s\n", op.name.c_str(), op.count, op.reason.c_str());
    for (const std::string& form : op.forms) std::fprintf(stream, "      with %s\n", form.c_str());
  }
  if (method.remedy.python.empty()) return;
  std::fprintf(stream, "  %s\n", method.remedy.what.c_str());
  for (const std::string& line : method.remedy.python) std::fprintf(stream, "    %s\n", line.c_str());
}

void add_info(Command& app, int& exit_code) {
  auto* command =
      app.add_subcommand("info", "Show what is in a program and the GPU memory it needs, without using a GPU");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", &options->model, "Program (.pte)");
  command->add_option("--adapter", &options->texts["adapter"],
                      "Plan for this GPU rather than for WebGPU's default limits");
  command->add_flag("--cost", &options->cost,
                    "Say what each dispatch of a step would ask of a GPU: workgroups, bytes, operations");
  command->add_option("--tokens", &options->step.tokens, "Tokens of that step, for language models")->show_default();
  command->add_option("--context", &options->step.context, "Positions before them")->show_default();
  command->add_flag("--passes", &options->passes, "List the graph rewrites");
  add_program_flags(*command, *options);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace pteron::cli
