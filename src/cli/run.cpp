// SPDX-License-Identifier: BSD-3-Clause
#include "base/path.h"
#include "cli/info.h"
#include "cli/print_json.h"
#include "cli/tuning.h"
#include "format/data_source.h"
#include "format/npy.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace pteron::cli {
namespace {

struct Options : Common {
  std::string model, method = "forward", output_dir;
  std::vector<std::string> inputs;
  u32 repeat = 1;
  bool profile = false;
};

Result<Tensor> read_npy(const std::string& path) {
  TRY(const auto file, format::open_file(path));
  std::vector<std::byte> buffer;
  TRY(const Bytes bytes, format::fetch(*file, {0, file->size()}, buffer));
  return within(format::parse_npy(bytes), path);
}

Status write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  const auto bytes = format::to_npy(tensor);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  if (!file) return invalid("cannot write '", os::text(path), "'");
  return {};
}

void print_profile(const Method& method) {
  u64 total = 0;
  for (const OpTiming& t : method.profile()) total += t.nanoseconds;
  for (const OpTiming& t : method.profile())
    std::fprintf(stderr, "%10.3f ms  %-40s %s\n", f64(t.nanoseconds) * 1e-6, t.op.c_str(), t.kernel.c_str());
  std::fprintf(stderr, "%10.3f ms  total\n", f64(total) * 1e-6);
}

// Behind the sentence of an error: what `pteron info` says about a method that is not for this runtime alone.
int report_with_help(const Options& options, const Error& error) {
  const int code = report(error);
  if (error.kind != ErrorKind::unsupported) return code;
  const auto load = options.load_options();
  if (!load) return code;
  if (const auto program = inspect(options.model, *load))
    for (const MethodReport& method : program->methods)
      if (method.info.name == options.method && !method.remedy.python.empty()) print_outside(stderr, method);
  return code;
}

Status run(const Options& options) {
  TRY(LoadOptions load, options.load_options());
  TRY_DO(apply_tuning(options, options.model, load));
  TRY(auto program, Program::load(options.model, std::move(load)));
  TRY(auto method, program.method(options.method));
  if (!options.quiet && !method.info().outputs.empty()) {
    TRY(const Device device, program.device());
    announce(device);
  }
  std::vector<Tensor> inputs;
  for (const std::string& path : options.inputs) {
    TRY(Tensor tensor, read_npy(path));
    inputs.push_back(std::move(tensor));
  }
  const std::vector<TensorView> views(inputs.begin(), inputs.end());
  method.set_profiling(options.profile);
  std::span<const Tensor> outputs;
  const auto begin = std::chrono::steady_clock::now();
  for (u32 i = 0; i < std::max(options.repeat, 1u); ++i) {
    TRY(outputs, method.execute(views));
  }
  const f64 ms = std::chrono::duration<f64, std::milli>(std::chrono::steady_clock::now() - begin).count() /
                 std::max(options.repeat, 1u);
  if (options.profile) print_profile(method);
  nlohmann::json list = nlohmann::json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& t = outputs[i];
    nlohmann::json entry{{"dtype", name_of(t.dtype())},
                         {"shape", std::vector<u32>(t.shape().begin(), t.shape().end())}};
    if (!options.output_dir.empty()) {
      std::error_code ignored;
      const std::filesystem::path folder = os::path(options.output_dir);
      std::filesystem::create_directories(folder, ignored);
      const auto path = folder / str("output_", i, ".npy");
      TRY_DO(write_npy(path, t));
      entry["file"] = os::text(path);
    }
    if (!options.json)
      std::printf(
          "output %zu: %s\n", i,
          str(t.dtype(), " ", t.shape(), entry.contains("file") ? str(" → ", entry["file"].get<std::string>()) : "")
              .c_str());
    list.push_back(std::move(entry));
  }
  if (options.json)
    print_json(nlohmann::json{{"outputs", list}, {"milliseconds", ms}, {"dispatches", method.stats().dispatches}});
  else
    std::fprintf(stderr, "%.3f ms per run, %u dispatches\n", ms, method.stats().dispatches);
  return {};
}

}  // namespace

void add_run(Command& app, int& exit_code) {
  auto* command = app.add_subcommand("run", "Run a program on .npy files");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", &options->model, "Program (.pte)")->required();
  command->add_option("-i,--input", &options->inputs, "Inputs in order (.npy), one option each");
  command->add_option("-o,--output", &options->output_dir, "Folder for the outputs (output_0.npy, …)");
  command->add_option("--method", &options->method, "Method to run")->show_default();
  command->add_option("--repeat", &options->repeat, "Run this many times and report the mean");
  command->add_flag("--profile", &options->profile, "Print the GPU time of every dispatch");
  add_device_flags(*command, *options);
  add_program_flags(*command, *options);
  command->callback([options, &exit_code] {
    if (const Status status = run(*options); !status) exit_code = report_with_help(*options, status.error());
  });
}

}  // namespace pteron::cli
