// SPDX-License-Identifier: BSD-3-Clause
// Runs a program once with each kernel that could do the work of another, and remembers which is the fastest for which
// shape.
#include "cli/cli.h"
#include "cli/print_json.h"
#include "cli/tuning.h"
#include "cli/workload.h"
#include "ops/routes.h"

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

struct Time {
  f64 ms = 0;
  std::string route;  // that was taken
};
using Times = std::map<std::string, Time>;  // by family and shape ("gemm@64x576x192")

f64 total(const Times& times) {
  return std::accumulate(times.begin(), times.end(), 0.0,
                         [](f64 sum, const auto& entry) { return sum + entry.second.ms; });
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

  // Times of everything in the family.
  Result<Times> run(u32 phase, std::string_view family) {
    TRY_DO(run(phase));
    Times times;
    for (const OpTiming& t : subject_.method.profile()) {
      if (!t.route.starts_with(str(family, "@"))) continue;
      const size_t equals = t.route.find('=');
      Time& time = times[t.route.substr(0, equals)];
      time.ms += f64(t.nanoseconds) * 1e-6;
      time.route = t.route.substr(equals + 1);
    }
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
      for (auto& [shape, time] : best[phase])
        if (const auto again = times.find(shape); again != times.end()) time.ms = std::min(time.ms, again->second.ms);
    }
  }
  return best;
}

Times sum(const PhaseTimes& phases) {
  Times out;
  for (const Times& phase : phases)
    for (const auto& [shape, time] : phase) {
      out[shape].ms += time.ms;
      out[shape].route = time.route;
    }
  return out;
}

// Adds the routes that beat the usual ones, and what was measured to `report`.
Status tune_family(const Options& options, const LoadOptions& load, const Family& family,
                   std::vector<std::string>& routes, Json& report) {
  TRY(const PhaseTimes phases, measure(options, load, family.name, nullptr));
  const Times usual = sum(phases);
  if (usual.empty()) return {};
  Times best = usual;
  for (auto& [shape, time] : best) {
    report[shape]["usual"] = time.route;
    time.ms *= worthwhile;
  }
  for (const std::string_view route : family.routes) {
    LoadOptions forced = load;
    forced.routes = {str(family.name, "=", route)};
    TRY(const PhaseTimes times, measure(options, forced, family.name, &phases));
    for (const auto& [shape, time] : sum(times)) {
      report[shape]["milliseconds"][time.route] = time.ms;
      if (const auto found = best.find(shape); found != best.end() && time.ms < found->second.ms) found->second = time;
    }
  }
  for (const auto& [shape, time] : best)
    if (time.route != usual.at(shape).route) routes.push_back(str(shape, "=", time.route));
  return {};
}

void print_report(const Json& measured, const std::vector<std::string>& routes, const std::string& path) {
  for (const auto& [shape, row] : measured.items()) {
    std::printf("%-28s", shape.c_str());
    for (const auto& [route, ms] : row["milliseconds"].items())
      std::printf("  %s%s %.3f", route.c_str(), row["usual"] == route ? " (usual)" : "", ms.get<f64>());
    std::printf("\n");
  }
  std::printf("%zu of %zu shapes get another kernel: %s\n", routes.size(), measured.size(), path.c_str());
}

Status run(const Options& options) {
  TRY(LoadOptions load, options.load_options());
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
    print_json(Json{{"adapter", device.adapter().name}, {"file", path}, {"shapes", measured}, {"routes", routes}});
  else
    print_report(measured, routes, path);
  return {};
}

}  // namespace

void add_tune(Command& app, int& exit_code) {
  auto* command = app.add_subcommand("tune", "Measure which kernels suit a program on this device, and remember it");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", &options->model, "Program (.pte)")->required();
  command->add_option("--prompt", &options->prompt, "Tokens of the prompt (language models)")->show_default();
  command->add_option("--context", &options->context, "Position of the token in a long context")->show_default();
  command->add_option("--repeat", &options->repeat, "Runs per kernel; the shortest counts")->show_default();
  command->add_option("--method", &options->method, "Method to run")->show_default();
  add_device_flags(*command, *options);
  add_program_flags(*command, *options);
  on_call(*command, options, exit_code, run);
}

}  // namespace pteron::cli
