// SPDX-License-Identifier: BSD-3-Clause
#include "cli/cli.h"

#include "base/os.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace pteron::cli {

DeviceOptions Common::device_options() const {
  DeviceOptions options;
  options.adapter = adapter;
  options.require_gpu = require_gpu;
  options.f16 = !no_f16;
  return options;
}

LoadOptions Common::load_options() const {
  LoadOptions options;
  options.device_options = device_options();
  options.data_files = data_files;
  options.disabled_passes = disabled_passes;
  options.f16_kv_cache = kv == "f16";
  if (!quiet) options.progress = progress_bar();
  return options;
}

void add_device_flags(Command& command, Common& common) {
  command.add_option("--adapter", &common.adapter, "GPU to use: an index or a part of its name (see 'pteron devices')");
  command.add_flag("--require-gpu", &common.require_gpu, "Fail rather than use a software adapter");
  command.add_flag("--no-f16", &common.no_f16, "Do not use half precision even if the GPU has it");
}

void add_program_flags(Command& command, Common& common) {
  command.add_option("--data", &common.data_files, "External constants (.ptd) of the program");
  command.add_option("--disable-pass", &common.disabled_passes,
                     "Switch a graph rewrite off (see 'pteron info --passes')");
  command.add_option("--kv", &common.kv, "KV caches: f32 as in the program (default), or f16 in half the memory")
      ->one_of({"f32", "f16"});
  command.add_flag("--no-tuning", &common.no_tuning, "Ignore what 'pteron tune' has found out");
  command.add_flag("--json", &common.json, "Print one JSON object");
  command.add_flag("-q,--quiet", &common.quiet, "No progress");
}

int report(const Error& error) {
  std::fprintf(stderr, "pteron: %s\n", error.to_string().c_str());
  return failed;
}

ProgressFn progress_bar(std::string verb) {
  if (!os::stderr_is_terminal()) return {};
  auto last = std::make_shared<std::string>();
  return [last, verb](const Progress& p) {
    if (p.total == 0) return true;  // nobody knows yet
    const bool bytes = p.phase != "pipelines";
    const f64 part = f64(p.done) / f64(p.total);
    const int width = std::clamp(int(os::terminal_width()) - 50, 10, 40);
    const int filled = int(part * width);
    std::string line =
        str(verb, p.phase, " [", std::string(size_t(filled), '#'), std::string(size_t(width - filled), ' '), "] ");
    line += bytes ? str(human_bytes(p.done), " of ", human_bytes(p.total)) : str(p.done, " of ", p.total);
    if (line != *last) std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
    *last = line;
    if (p.done == p.total) std::fprintf(stderr, "\r\x1b[K");
    return true;
  };
}

void announce(const Device& device) {
  const AdapterDescription& a = device.adapter();
  std::fprintf(stderr, "GPU: %s (%s, %s)%s\n", a.name.c_str(), a.type.c_str(), a.backend.c_str(),
               a.software ? "; no real GPU was found or chosen, so this is slow" : "");
}

}  // namespace pteron::cli
