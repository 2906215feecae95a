// SPDX-License-Identifier: BSD-3-Clause
// What the commands share. Answers go to standard output, everything else to standard error.
#pragma once

#include "base/error.h"
#include "cli/command.h"

#include <pteron/options.h>
#include <pteron/pteron.h>

#include <charconv>
#include <limits>
#include <map>
#include <memory>
#include <string>

namespace pteron::cli {

enum ExitCode { ok = 0, failed = 1, usage = 2 };

struct Common {
  bool no_tuning = false;
  bool json = false;
  bool quiet = false;
  // What was given of <pteron/options.h>, by name.
  std::map<std::string_view, bool> flags;
  std::map<std::string_view, std::string> texts;
  std::map<std::string_view, std::vector<std::string>> lists;

  Result<DeviceOptions> device_options() const;
  Result<LoadOptions> load_options() const;
};

// Each adds a subcommand; its callback sets `exit_code`.
void add_devices(Command& app, int& exit_code);
void add_info(Command& app, int& exit_code);
void add_run(Command& app, int& exit_code);
void add_generate(Command& app, int& exit_code);
void add_chat(Command& app, int& exit_code);
void add_serve(Command& app, int& exit_code);
void add_selftest(Command& app, int& exit_code);
void add_convert(Command& app, int& exit_code);
void add_bench(Command& app, int& exit_code);
void add_tune(Command& app, int& exit_code);
void add_version(Command& app, int& exit_code);

// Version, commit and parts, a line each.
std::string version_text();

void add_device_flags(Command& command, Common& common);
void add_program_flags(Command& command, Common& common);

// What is wrong with a text that should be a whole number of type T; empty: nothing.
template <class T>
std::string check_whole_number(const std::string& text) {
  T value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc() && end == text.data() + text.size()) return "";
  return str("'", text, "' is not a whole number from 0 to ", std::numeric_limits<T>::max());
}

// Prints "pteron: <error>" and returns the exit code.
int report(const Error& error);
// Calls `run` with the options when the command is given, and reports how it fails.
template <class Options, class Run>
void on_call(Command& command, const std::shared_ptr<Options>& options, int& exit_code, Run run) {
  command.callback([options, &exit_code, run] {
    if (const Status status = run(*options); !status) exit_code = report(status.error());
  });
}
// A bar on standard error, if that is a terminal: "loading weights [###   ] 12 MiB of 24 MiB".
ProgressFn progress_bar(const std::string& verb = "loading ");
// Says which GPU is used.
void announce(const Device& device);

}  // namespace pteron::cli
