// SPDX-License-Identifier: BSD-3-Clause
// Runs a program once with each kernel that could do the work of another, and remembers which is the fastest for which
// shape.
#include "cli/cli.h"
#include "cli/tuning.h"
#include "cli/workload.h"
#include "ops/routes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <numeric>

namespace pteron::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options : Common {
  std::string model, method = "forward";
  u32 prompt = 64, context = 500, repeat = 3;
};

constexpr f64 worthwhile = 0.95;  // of the usual kernel's time, or it stays
constexpr f64 hopeless = 3;       // times the usual kernels' time: once is enough

struct Family {
  std::string_view name;
  std::vector<std::string_view> routes;  // that this device can take
};

std::vector<Family> families(const AdapterDescription& adapter) {
  std::vector<Family> out;
  for (const ops::Route& route : ops::routes()) {
    if (out.empty() || out.back().name != route.family) out.push_back({route.family, {}});
    if (!route.subgroups || adapter.subgroups) out.back().routes.push_back(route.name);
  }
  return out;
}

using Times = std::map<std::string, f64>;  // milliseconds by choice ("gemm@64x576x192")

f64 total(const Times& times) {
  return std::accumulate(times.begin(), times.end(), 0.0,
                         [](f64 sum, const auto& entry) { return sum + entry.second; });
}

// What a program does, in phases that are measured on their own: a language model's prompt and its tokens at a short
// and at a long context, or the only run of any other.
class Workload {
 public:
  static constexpr u32 most_phases = 3;

  static Result<Workload> load(const Options& options, const LoadOptions& load) {
    TRY(Subject subject, load_subject(options.model, options.method, load));
    subject.method.set_profiling(true);
    std::vector<Tensor> inputs;
    if (!subject.is_decoder) {
      TRY(inputs, made_up_inputs(subject.method.info()));
    }
    return Workload(std::move(subject), std::move(inputs), options);
  }

  u32 phases() const { return subject_.is_decoder ? most_phases : 1; }

  // Times of all choices within the family.
  Result<Times> run(u32 phase, std::string_view family) {
    TRY_DO(run(phase));
    Times times;
    for (const OpTiming& t : subject_.method.profile())
      if (t.choice.substr(0, t.choice.find('@')) == family) times[t.choice] += f64(t.nanoseconds) * 1e-6;
    return times;
  }

 private:
  Workload(Subject subject, std::vector<Tensor> inputs, const Options& options)
      : subject_(std::move(subject)), inputs_(std::move(inputs)), prompt_(options.prompt), context_(options.context) {}

  Status run(u32 phase) {
    if (!subject_.is_decoder) {
      const std::vector<TensorView> views(inputs_.begin(), inputs_.end());
      TRY_DO(subject_.method.execute(views));
      return {};
    }
    Decoder decoder(subject_);
    const u32 prompt = std::min({prompt_, decoder.longest_step(), decoder.capacity()});
    if (phase == 0) return decoder.step(0, prompt);
    return decoder.step(std::min(phase == 1 ? prompt : context_, decoder.capacity() - 1), 1);
  }

  Subject subject_;
  std::vector<Tensor> inputs_;
  u32 prompt_, context_;
};

using PhaseTimes = std::array<Times, Workload::most_phases>;

// The shortest times of several runs.
Result<PhaseTimes> measure(const Options& options, const LoadOptions& load, std::string_view family,
                           const PhaseTimes* usual) {
  TRY(Workload work, Workload::load(options, load));
  PhaseTimes best;
  for (u32 phase = 0; phase < work.phases(); ++phase) {
    TRY(best[phase], work.run(phase, family));
    if (usual && total(best[phase]) > hopeless * total((*usual)[phase])) continue;
    for (u32 i = 0; i < options.repeat; ++i) {
      TRY(const Times times, work.run(phase, family));
      for (auto& [choice, ms] : best[phase])
        if (const auto again = times.find(choice); again != times.end()) ms = std::min(ms, again->second);
    }
  }
  return best;
}

Times sum(const PhaseTimes& phases) {
  Times out;
  for (const Times& phase : phases)
    for (const auto& [choice, ms] : phase) out[choice] += ms;
  return out;
}

// Adds the routes that beat the usual ones, and what was measured to `report`.
Status tune_family(const Options& options, const LoadOptions& load, const Family& family,
                   std::vector<std::string>& routes, Json& report) {
  TRY(const PhaseTimes usual, measure(options, load, family.name, nullptr));
  std::map<std::string, std::pair<std::string, f64>> best;
  for (const auto& [choice, ms] : sum(usual)) {
    report[choice]["usual"] = ms;
    best[choice] = {"", worthwhile * ms};
  }
  if (best.empty()) return {};
  for (const std::string_view route : family.routes) {
    LoadOptions forced = load;
    forced.routes = {str(family.name, "=", route)};
    TRY(const PhaseTimes times, measure(options, forced, family.name, &usual));
    for (const auto& [choice, ms] : sum(times)) {
      report[choice][std::string(route)] = ms;
      if (const auto found = best.find(choice); found != best.end() && ms < found->second.second)
        found->second = {std::string(route), ms};
    }
  }
  for (const auto& [choice, found] : best)
    if (!found.first.empty()) routes.push_back(str(choice, "=", found.first));
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
  for (const Family& family : families(device.adapter())) TRY_DO(tune_family(options, load, family, routes, measured));
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
  command->add_option("--context", options->context, "Position of the token in a long context")->capture_default_str();
  command->add_option("--repeat", options->repeat, "Runs per kernel; the shortest counts")->capture_default_str();
  command->add_option("--method", options->method, "Method to run")->capture_default_str();
  add_device_flags(*command, *options);
  add_program_flags(*command, *options);
  command->callback([options, &exit_code] {
    if (auto status = run(*options); !status) exit_code = report(status.error());
  });
}

}  // namespace pteron::cli
