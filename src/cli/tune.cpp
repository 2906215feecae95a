// SPDX-License-Identifier: BSD-3-Clause
// Runs a program once with each kernel that could do the work of another, and remembers which is the fastest for which
// shape.
#include "cli/cli.h"
#include "cli/tuning.h"
#include "cli/workload.h"
#include "ops/gemm.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>

namespace pteron::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options : Common {
  std::string model, method = "forward";
  u32 prompt = 64, repeat = 3;
};

// A measured kernel must be this much faster than the one that is chosen anyway.
constexpr f64 worthwhile = 0.95;

struct Family {
  std::string name;
  std::vector<std::string> routes;
};
std::vector<Family> families() { return {{"gemm", ops::Gemm::route_names()}}; }

using Times = std::map<std::string, f64>;  // milliseconds by choice ("gemm@64x576x192")

void add_times(const Method& method, std::string_view family, Times& times) {
  for (const OpTiming& t : method.profile())
    if (t.choice.starts_with(family)) times[t.choice] += f64(t.nanoseconds) * 1e-6;
}

// The shortest time of several runs, for every shape of the family.
Result<Times> measure(const Options& options, LoadOptions load, std::string_view family) {
  load.epilogues = {{Epilogue::arg_max, 0, 1}};
  TRY(auto program, Program::load(options.model, load));
  const auto described = std::ranges::find(program.methods(), options.method, &MethodInfo::name);
  const bool decoder = described != program.methods().end() && is_decoder(*described);
  if (!decoder) {
    load.epilogues.clear();
    TRY(program, Program::load(options.model, load));
  }
  TRY(auto method, program.method(options.method));
  std::vector<Tensor> inputs;
  if (!decoder) {
    TRY(inputs, made_up_inputs(method.info()));
  }
  const std::vector<TensorView> views(inputs.begin(), inputs.end());
  method.set_profiling(true);
  Times best;
  for (u32 i = 0; i <= options.repeat; ++i) {
    Times times;
    if (decoder) {
      Decoder work(program, method);
      TRY_DO(work.step(0, std::min({options.prompt, work.longest_step(), work.capacity()})));
      add_times(method, family, times);
      TRY_DO(work.step(0, 1));
    } else {
      TRY_DO(method.execute(views));
    }
    add_times(method, family, times);
    if (i == 0) continue;  // warms up
    for (const auto& [choice, ms] : times) {
      const auto [entry, added] = best.emplace(choice, ms);
      if (!added) entry->second = std::min(entry->second, ms);
    }
  }
  return best;
}

// Adds the routes that beat the usual ones, and what was measured to `report`.
Status tune_family(const Options& options, const LoadOptions& load, const Family& family,
                   std::vector<std::string>& routes, Json& report) {
  TRY(const Times usual, measure(options, load, family.name));
  if (usual.empty()) return {};
  std::map<std::string, std::pair<std::string, f64>> best;
  for (const std::string& route : family.routes) {
    LoadOptions forced = load;
    forced.routes = {str(family.name, "=", route)};
    TRY(const Times times, measure(options, std::move(forced), family.name));
    for (const auto& [choice, ms] : times) {
      report[choice][route] = ms;
      const auto [entry, added] = best.emplace(choice, std::pair(route, ms));
      if (!added && ms < entry->second.second) entry->second = {route, ms};
    }
  }
  for (const auto& [choice, ms] : usual) {
    report[choice]["usual"] = ms;
    const auto found = best.find(choice);
    if (found != best.end() && found->second.second < worthwhile * ms)
      routes.push_back(str(choice, "=", found->second.first));
  }
  return {};
}

void print(const Json& measured, const std::vector<std::string>& routes, const std::string& path) {
  for (const auto& [choice, times] : measured.items()) {
    std::printf("%-28s", choice.c_str());
    for (const auto& [route, ms] : times.items()) std::printf("  %s %.3f", route.c_str(), ms.get<f64>());
    std::printf("\n");
  }
  std::printf("%zu of %zu shapes get another kernel: %s\n", routes.size(), measured.size(), path.c_str());
}

Status run(const Options& options) {
  LoadOptions load = options.load_options();
  TRY(const Device device, Device::open(load.device_options));
  load.device = device;
  if (!options.quiet) announce(device);
  if (!device.adapter().timestamps)
    return unsupported("tune needs GPU timestamps, which ", device.adapter().name, " does not have");
  Json measured = Json::object();
  std::vector<std::string> routes;
  for (const Family& family : families()) TRY_DO(tune_family(options, load, family, routes, measured));
  TRY(const std::string path, save_tuning({options.model, device.adapter(), routes}));
  if (options.json)
    std::printf("%s\n",
                Json{{"adapter", device.adapter().name}, {"file", path}, {"milliseconds", measured}, {"routes", routes}}
                    .dump(2, ' ', false, Json::error_handler_t::replace)
                    .c_str());
  else
    print(measured, routes, path);
  return {};
}

}  // namespace

void add_tune(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("tune", "Measure which kernels suit a program on this device, and remember it");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", options->model, "Program (.pte)")->required();
  command->add_option("--prompt", options->prompt, "Tokens of the prompt (language models)")->capture_default_str();
  command->add_option("--repeat", options->repeat, "Runs per kernel; the shortest counts")->capture_default_str();
  command->add_option("--method", options->method, "Method to run")->capture_default_str();
  add_device_flags(*command, *options);
  add_program_flags(*command, *options);
  command->callback([options, &exit_code] {
    if (auto status = run(*options); !status) exit_code = report(status.error());
  });
}

}  // namespace pteron::cli
