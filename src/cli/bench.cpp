// SPDX-License-Identifier: BSD-3-Clause
// What a program costs on this device. A language model is measured in prompts and single tokens, any other program in
// runs on made-up inputs.
#include "base/os.h"
#include "base/path.h"
#include "cli/cli.h"
#include "cli/costs.h"
#include "cli/meter.h"
#include "cli/print_json.h"
#include "cli/tuning.h"
#include "cli/workload.h"

#include <commit.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>

namespace pteron::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options : Common {
  std::string model, method = "forward";
  u32 prefill = 64, decode = 32, context = 32, prompts = 3, conversations = 1;
};

Json to_json(const Spread& s) {
  return {{"median", s.median}, {"lower_quartile", s.lower_quartile}, {"upper_quartile", s.upper_quartile}};
}

// GPU time by kernel of the last execute, longest first.
Json kernel_times(const Method& method, f64& total_ms) {
  std::map<std::string, f64> by_kernel;
  for (const OpTiming& t : method.profile()) {
    by_kernel[t.kernel] += f64(t.nanoseconds) * 1e-6;
    total_ms += f64(t.nanoseconds) * 1e-6;
  }
  std::vector<std::pair<std::string, f64>> sorted(by_kernel.begin(), by_kernel.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  Json out = Json::object();
  for (const auto& [kernel, ms] : sorted) out[kernel] = ms;
  return out;
}

// By timestamps, in a step of its own: they need a pass for each dispatch, which costs time.
template <class Fn>
Status profile(Method& method, const Device& device, Json& report, Fn step) {
  report["gpu_ms"] = nullptr;
  if (!device.adapter().timestamps) return {};
  method.set_profiling(true);
  TRY_DO(step());
  method.set_profiling(false);
  f64 total = 0;
  Json kernels = kernel_times(method, total);
  report["gpu_ms"] = total;
  report["gpu_ms_by_kernel"] = std::move(kernels);
  return {};
}

void add_counts(Json& report, const Meter& meter, const std::string& unit) {
  const Meter::Counts counts = meter.counts();
  report["dispatches_per_" + unit] = counts.dispatches;
  report["queue_writes_per_" + unit] = counts.queue_writes;
  report["submits_per_" + unit] = counts.submits;
  report["host_allocations_per_" + unit] = counts.host_allocations;
  report["creates_per_" + unit] = counts.creates;
  report["host_us_per_" + unit] = meter.host_us().median;
  report["host_us_spread"] = to_json(meter.host_us());
  report["host_us_while_gpu_works"] = meter.hidden_us().median;
  report["host_cpu_us_spread"] = to_json(meter.host_cpu_us());  // of the thread; says more on a busy machine
}

void add_traffic(Json& report, const Method& method, u32 positions, bool by_dispatch) {
  if (by_dispatch) report["costs"] = costs_to_json(method.costs(positions));
  const MemoryTraffic traffic = method.traffic(positions);
  report["bytes_touched"] = traffic.total();
  report["bytes_needed"] = traffic.needed;
  report["bytes_ratio"] = traffic.needed > 0 ? f64(traffic.total()) / f64(traffic.needed) : 0;
}

Status measure_decoder(Decoder decoder, Method& method, const Device& device, const Options& options, Json& report) {
  const u64 last = u64(options.context) + options.decode + 1;
  if (last > decoder.capacity())
    return invalid("--context ", options.context, " and --decode ", options.decode, " need ", last,
                   " positions, but the program's caches hold ", decoder.capacity());
  if (options.prefill > decoder.capacity())
    return invalid("--prefill ", options.prefill, " is more than the program's caches hold, ", decoder.capacity());
  Meter prompts(device, options.prompts), tokens(device, options.decode);
  if (options.prefill > 0) {
    TRY_DO(decoder.prompt(options.prefill));
    for (u32 i = 0; i < options.prompts; ++i) TRY_DO(prompts.run([&] { return decoder.prompt(options.prefill); }));
  }
  TRY_DO(decoder.step(options.context, 1));
  for (u32 i = 0; i < options.decode; ++i) TRY_DO(tokens.run([&] { return decoder.step(options.context + i, 1); }));
  const f64 count = f64(options.prefill);
  report["context"] = options.context;
  report["decode_tok_s"] = options.decode > 0 ? 1e3 / tokens.wall_ms().median : 0;
  report["decode_cpu_ms"] = tokens.cpu_ms().median;
  report["decode_ms_spread"] = to_json(tokens.wall_ms());
  report["decode_cpu_ms_spread"] = to_json(tokens.cpu_ms());
  report["prefill_tokens"] = options.prefill;
  report["prefill_tok_s"] = options.prefill > 0 ? count * 1e3 / prompts.wall_ms().median : 0;
  report["prefill_cpu_ms"] = options.prefill > 0 ? prompts.cpu_ms().median / count : 0;  // per token
  report["prefill_ms_spread"] = to_json(prompts.wall_ms());
  add_counts(report, tokens, "token");
  add_traffic(report, method, options.context + options.decode, options.json);
  return profile(method, device, report, [&] { return decoder.step(options.context + options.decode, 1); });
}

// Conversations that decode in one submit; all numbers are for one token of one of them.
Status measure_batch(Subject& subject, const Device& device, const Options& options, Json& report) {
  TRY(DecoderBatch batch, DecoderBatch::create(subject, options.conversations));
  Meter steps(device, options.decode);
  TRY_DO(batch.step(options.context));
  for (u32 i = 0; i < options.decode; ++i) TRY_DO(steps.run([&] { return batch.step(options.context + i); }));
  const f64 count = options.conversations;
  const MemoryTraffic traffic = batch.batch().traffic(options.context + options.decode);
  report["conversations"] = options.conversations;
  report["batch_ms"] = steps.wall_ms().median / count;
  report["batch_cpu_ms"] = steps.cpu_ms().median / count;
  report["batch_dispatches"] = steps.counts().dispatches / count;
  report["batch_submits"] = steps.counts().submits / count;
  report["batch_bytes_touched"] = f64(traffic.total()) / count;
  report["batch_bytes_of_caches"] = f64(traffic.state) / count;
  return {};
}

Status measure_runs(Method& method, const Device& device, const Options& options, Json& report) {
  TRY(const std::vector<Tensor> inputs, made_up_inputs(method.info()));
  const std::vector<TensorView> views(inputs.begin(), inputs.end());
  const auto run = [&]() -> Status {
    TRY_DO(method.execute(views));
    return {};
  };
  Meter runs(device, options.decode);
  TRY_DO(run());
  for (u32 i = 0; i < options.decode; ++i) TRY_DO(runs.run(run));
  report["run_ms"] = runs.wall_ms().median;
  report["run_cpu_ms"] = runs.cpu_ms().median;
  report["run_ms_spread"] = to_json(runs.wall_ms());
  report["run_cpu_ms_spread"] = to_json(runs.cpu_ms());
  add_counts(report, runs, "run");
  add_traffic(report, method, UINT32_MAX, options.json);
  return profile(method, device, report, run);
}

void print_report(const Json& report) {
  for (const auto& [key, value] : report.items()) {
    if (value.is_object() && value.contains("median"))
      std::printf("%-28s %.3f (%.3f to %.3f)\n", key.c_str(), value["median"].get<f64>(),
                  value["lower_quartile"].get<f64>(), value["upper_quartile"].get<f64>());
    else if (value.is_object())
      for (const auto& [name, part] : value.items()) std::printf("  %-26s %.3f\n", name.c_str(), part.get<f64>());
    else if (value.is_number_float())
      std::printf("%-28s %.3f\n", key.c_str(), value.get<f64>());
    else
      std::printf("%-28s %s\n", key.c_str(),
                  value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
  }
}

f64 milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<f64, std::milli>(std::chrono::steady_clock::now() - start).count();
}

Status run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  TRY(LoadOptions load, options.load_options());
  TRY(const Device device, Device::open(load.device_options));
  const f64 device_ms = milliseconds_since(start);
  load.device = device;
  TRY_DO(apply_tuning(options, options.model, load));
  TRY(Subject subject, load_subject(options.model, options.method, load));
  Method& method = subject.method;
  const f64 load_ms = milliseconds_since(start);
  if (!options.quiet) announce(device);

  std::error_code ignored;
  Json report{{"model", options.model},
              {"file_bytes", std::filesystem::file_size(os::path(options.model), ignored)},
              {"adapter", device.adapter().name},
              {"driver", device.adapter().driver},
              {"adapter_type", device.adapter().type},
              {"f16", device.adapter().f16},
              {"tuned", !load.routes.empty()},
              {"kv", load.f16_kv_cache ? "f16" : "f32"},
              {"version", version()},
              {"commit", *PTERON_COMMIT ? PTERON_COMMIT : "unknown"},
              {"load_ms", load_ms},
              {"device_ms", device_ms}};  // a part of load_ms
  TRY_DO(subject.is_decoder ? measure_decoder(Decoder(subject), method, device, options, report)
                            : measure_runs(method, device, options, report));
  if (subject.is_decoder && options.conversations > 1) TRY_DO(measure_batch(subject, device, options, report));
  report["late_pipelines"] = method.stats().late_pipelines;
  report["gpu_buffer_mb"] = f64(device.usage().peak_buffer_bytes) * 1e-6;
  report["peak_rss_mb"] = f64(os::peak_resident_bytes()) * 1e-6;
  if (options.json)
    print_json(report);
  else
    print_report(report);
  return {};
}

}  // namespace

void add_bench(Command& app, int& exit_code) {
  auto* command = app.add_subcommand("bench", "Measure what a program costs on this device");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", &options->model, "Program (.pte)")->required();
  command->add_option("--prefill", &options->prefill, "Tokens of the prompt (language models)")->show_default();
  command->add_option("--decode", &options->decode, "Tokens to decode, or runs of any other program")->show_default();
  command->add_option("--context", &options->context, "Positions before the first decoded token")->show_default();
  command->add_option("--prompts", &options->prompts, "How often the prompt is measured")->show_default();
  command->add_option("--conversations", &options->conversations, "Also measure so many that decode in one submit")
      ->show_default();
  command->add_option("--method", &options->method, "Method to run")->show_default();
  add_device_flags(*command, *options);
  add_program_flags(*command, *options);
  on_call(*command, options, exit_code, run);
}

}  // namespace pteron::cli
