// SPDX-License-Identifier: BSD-3-Clause
#include "cli/cli.h"

#include "base/os.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace pteron::cli {

Result<LoadOptions> Common::load_options() const {
  LoadOptions options;
  for (const OptionInfo& info : load_option_names()) {
    if (const auto flag = flags.find(info.name); flag != flags.end() && flag->second)
      TRY_DO(set_option(options, info.name, !info.argument.starts_with("--no-")));
    if (const auto text = texts.find(info.name); text != texts.end() && !text->second.empty())
      TRY_DO(set_option(options, info.name, text->second));
    if (const auto list = lists.find(info.name); list != lists.end())
      TRY_DO(set_option(options, info.name, list->second));
  }
  if (!quiet) options.progress = progress_bar();
  return options;
}

Result<DeviceOptions> Common::device_options() const {
  TRY(const LoadOptions options, load_options());
  return options.device_options;
}

namespace {

void add_options(Command& command, Common& common, std::initializer_list<std::string_view> names) {
  for (const OptionInfo& info : load_option_names()) {
    if (std::ranges::find(names, info.name) == names.end()) continue;
    const std::string argument(info.argument), what(info.what);
    if (info.kind == OptionInfo::list)
      command.add_option(argument, &common.lists[info.name], what);
    else if (info.kind == OptionInfo::text)
      command.add_option(argument, &common.texts[info.name], what);
    else if (info.on == "true")
      command.add_flag(argument, &common.flags[info.name], what);
    else
      command.add_option(argument, &common.texts[info.name], what)
          ->one_of({std::string(info.off), std::string(info.on)});
  }
}

}  // namespace

void add_device_flags(Command& command, Common& common) {
  add_options(command, common, {"adapter", "require_gpu", "f16"});
}

void add_program_flags(Command& command, Common& common) {
  add_options(command, common, {"data_files", "disable_passes", "f16_kv_cache", "fast_math"});
  command.add_flag("--no-tuning", &common.no_tuning, "Ignore what 'pteron tune' has found out");
  command.add_flag("--json", &common.json, "Print one JSON object");
  command.add_flag("-q,--quiet", &common.quiet, "No progress");
}

int report(const Error& error) {
  std::fprintf(stderr, "pteron: %s\n", error.to_string().c_str());
  return failed;
}

ProgressFn progress_bar(const std::string& verb) {
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
