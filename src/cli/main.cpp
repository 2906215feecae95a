// SPDX-License-Identifier: BSD-3-Clause
#include "base/os.h"
#include "cli/cli.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <string>
#include <vector>

using namespace pteron;

namespace {

// One sentence; the options are many.
std::string usage_message(const CLI::App* app, const CLI::Error& error) {
  std::string command = "pteron";
  if (const auto chosen = app->get_subcommands(); !chosen.empty()) command += " " + chosen[0]->get_name();
  return str("pteron: ", error.what(), "; see '", command, " --help'\n");
}

int run(int argc, char** argv) {
  const std::vector<std::string> arguments = os::begin_program(argc, argv);
  // Mesa's device-selection layer looks for a Wayland display and complains if there is none; we choose devices
  // ourselves.
  os::set_environment_default("NODEVICE_SELECT", "1");
  // Both streams may go to one file: what is said first stands first.
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  CLI::App app{"Runs ExecuTorch programs (.pte) on the GPU through WebGPU."};
  app.set_version_flag("--version", cli::version_text());
  app.require_subcommand(1);
  app.failure_message(usage_message);
  app.allow_windows_style_options(false);  // a path may start with a slash
  cli::Command commands(app);
  int exit_code = cli::ok;
  cli::add_devices(commands, exit_code);
  cli::add_info(commands, exit_code);
  cli::add_run(commands, exit_code);
  cli::add_generate(commands, exit_code);
  cli::add_chat(commands, exit_code);
  cli::add_serve(commands, exit_code);
  cli::add_selftest(commands, exit_code);
  cli::add_convert(commands, exit_code);
  cli::add_bench(commands, exit_code);
  cli::add_tune(commands, exit_code);
  cli::add_version(commands, exit_code);
  std::vector<const char*> pointers;
  pointers.reserve(arguments.size());
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  try {
    app.parse(int(pointers.size()), pointers.data());
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? cli::ok : cli::usage;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "pteron: %s\n", e.what());
    return cli::failed;
  }
}
