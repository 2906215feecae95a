// SPDX-License-Identifier: BSD-3-Clause
// What this build is made of.
#include "cli/cli.h"
#include "cli/print_json.h"
#include "gpu/native/native.h"

#include <commit.h>

#include <cstdio>

namespace pteron::cli {
namespace {

#if defined(__clang__)
constexpr const char* compiler = "Clang " __clang_version__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

}  // namespace

std::string version_text() {
  const std::string commit = PTERON_COMMIT;
  return str("pteron ", version(), "\n", commit.empty() ? "built outside of git" : "commit " + commit, "\n",
             gpu::implementation(), "\n", compiler);
}

void add_version(Command& app, int&) {
  auto* command = app.add_subcommand("version", "Say what this build is made of");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", json.get(), "Print one JSON object");
  command->callback([json] {
    if (!*json) return void(std::printf("%s\n", version_text().c_str()));
    nlohmann::ordered_json out{{"version", version()}, {"commit", nullptr}};
    if (const std::string commit = PTERON_COMMIT; !commit.empty()) out["commit"] = commit;
    out["webgpu"] = gpu::implementation();
    out["compiler"] = compiler;
    print_json(out);
  });
}

}  // namespace pteron::cli
