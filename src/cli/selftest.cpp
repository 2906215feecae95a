// SPDX-License-Identifier: BSD-3-Clause
#include "selftest/selftest.h"
#include "cli/cli.h"
#include "cli/print_json.h"

#include <cstdio>

namespace pteron::cli {
namespace {

struct Options : Common {
  std::string only;
  u32 repeat = 1;
};

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

void print_outcome(const selftest::Outcome& outcome) {
  std::printf("%-4s %-30s %-28s %g\n", outcome.problem.empty() ? "ok" : "FAIL", outcome.name.c_str(),
              joined(outcome.kernels).c_str(), outcome.worst);
  if (!outcome.problem.empty()) std::printf("     %s\n", outcome.problem.c_str());
}

Result<bool> run(const Options& options) {
  if (options.repeat == 0) return invalid("--repeat must be at least 1, not 0");
  TRY(const DeviceOptions wanted, options.device_options());
  TRY(const Device device, Device::open(wanted));
  announce(device);
  nlohmann::json list = nlohmann::json::array();
  const auto summary = selftest::run(device, options.only, options.repeat, [&](const selftest::Outcome& outcome) {
    if (!options.json) return print_outcome(outcome);
    list.push_back(
        {{"name", outcome.name}, {"kernels", outcome.kernels}, {"worst", outcome.worst}, {"problem", outcome.problem}});
  });
  if (options.json)
    print_json(nlohmann::json{{"trials", list}, {"untried", summary.untried}});
  else
    std::printf("%u passed, %u failed on %s\n", summary.passed, summary.failed, device.adapter().name.c_str());
  return summary.failed == 0;
}

}  // namespace

void add_selftest(Command& app, int& exit_code) {
  auto* command = app.add_subcommand("selftest", "Run every kernel on this GPU and compare with the CPU");
  auto options = std::make_shared<Options>();
  add_device_flags(*command, *options);
  command->add_option("--only", &options->only, "Trials with this in their name");
  command->add_option("--repeat", &options->repeat, "Run each so often; results must be equal bit by bit");
  command->add_flag("--json", &options->json, "Print one JSON object");
  command->callback([options, &exit_code] {
    const auto good = run(*options);
    exit_code = !good ? report(good.error()) : *good ? ok : failed;
  });
}

}  // namespace pteron::cli
