// SPDX-License-Identifier: BSD-3-Clause
// Runs fixtures and prints a line for each that fails; or writes docs/ops.md from what they show.
#include "support/ops_table.h"

#include "graph/op.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace pteron;

namespace {

constexpr const char* usage =
    "usage: run_fixtures FOLDER [--only TEXT] [--no-f16] [--guards] [--route FAMILY=NAME]\n"
    "       run_fixtures FOLDER --table FILE         runs on every adapter and writes a table of ops\n"
    "       run_fixtures FOLDER --check-table FILE   is the table about these fixtures?";

struct Options {
  std::string folder, only, table;
  bool check = false;
  DeviceOptions device;
  LoadOptions load;
};

std::vector<test::Fixture> read_fixtures(const Options& options) {
  std::vector<test::Fixture> out;
  for (const auto& folder : test::find_fixtures(options.folder)) {
    test::Fixture fixture = test::read_fixture(folder);
    if (fixture.name.find(options.only) != std::string::npos) out.push_back(std::move(fixture));
  }
  return out;
}

// Programs with ops that nobody has, or that are meant for ExecuTorch's kernels.
bool is_runnable(const test::Fixture& fixture) {
  for (const std::string& op : fixture.ops)
    if (!graph::find_op(op)) return false;
  for (const std::string& op : fixture.portable_ops)
    if (op != "aten::copy_") return false;
  return true;
}

// Returns how many failed.
int run(const Options& options, const std::vector<test::Fixture>& fixtures, test::OpsTable* table) {
  auto device = Device::open(options.device);
  if (!device) return std::printf("%s\n", device.error().to_string().c_str()), 1;
  std::printf("adapter: %s\n", device->adapter().name.c_str());
  int passed = 0, failed = 0, unsupported = 0;
  for (const test::Fixture& fixture : fixtures) {
    if (!is_runnable(fixture)) {
      ++unsupported;
      if (!options.only.empty()) std::printf("unsupported %s\n", fixture.name.c_str());
      continue;
    }
    f64 worst = 0;
    const auto problems = test::run_fixture(fixture, *device, &worst, options.load);
    (problems.empty() ? passed : failed)++;
    for (const std::string& problem : problems) std::printf("FAIL %s: %s\n", fixture.name.c_str(), problem.c_str());
    if (problems.empty() && !options.only.empty()) std::printf("ok   %s (worst %g)\n", fixture.name.c_str(), worst);
    if (table && problems.empty()) table->add_result(device->adapter().name, fixture, worst);
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed, %d need missing ops or portable kernels between delegates\n", passed, failed,
              unsupported);
  return failed;
}

int write_table(Options options, const std::vector<test::Fixture>& fixtures) {
  const auto adapters = Device::list();
  if (!adapters) return std::printf("%s\n", adapters.error().to_string().c_str()), 1;
  test::OpsTable table(fixtures);
  int failed = 0;
  for (const AdapterDescription& adapter : *adapters) {
    options.device.adapter = std::to_string(adapter.index);
    failed += run(options, fixtures, &table);
  }
  std::ofstream(options.table) << table.markdown();
  return failed > 0;
}

int check_table(const Options& options, const std::vector<test::Fixture>& fixtures) {
  std::ostringstream text;
  text << std::ifstream(options.table).rdbuf();
  const auto differences = test::OpsTable(fixtures).differences(text.str());
  for (const std::string& difference : differences) std::printf("%s: %s\n", options.table.c_str(), difference.c_str());
  if (!differences.empty()) std::printf("write it anew with run_fixtures %s --table FILE\n", options.folder.c_str());
  return !differences.empty();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::puts(usage), 2;
  Options options;
  options.folder = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const bool has_value = i + 1 < argc;
    if (flag == "--no-f16")
      options.device.f16 = false;
    else if (flag == "--guards")
      options.load.guards = true;
    else if (flag == "--only" && has_value)
      options.only = argv[++i];
    else if (flag == "--route" && has_value)
      options.load.routes.push_back(argv[++i]);
    else if ((flag == "--table" || flag == "--check-table") && has_value)
      options.check = flag == "--check-table", options.table = argv[++i];
    else
      return std::puts(usage), 2;
  }
  const auto fixtures = read_fixtures(options);
  if (options.table.empty()) return run(options, fixtures, nullptr) > 0;
  return options.check ? check_table(options, fixtures) : write_table(options, fixtures);
}
