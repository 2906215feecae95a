// SPDX-License-Identifier: BSD-3-Clause
// Runs fixtures and prints a line for each that fails.
// usage: run_fixtures FOLDER [--only TEXT] [--no-f16] [--route FAMILY=NAME]
#include "support/fixture.h"

#include "graph/op.h"

#include <cstdio>
#include <cstring>

using namespace pteron;

int main(int argc, char** argv) {
  if (argc < 2) return std::puts("usage: run_fixtures FOLDER [--only TEXT] [--no-f16] [--route FAMILY=NAME]"), 2;
  std::string only;
  DeviceOptions options;
  LoadOptions load;
  for (int i = 2; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--only") && i + 1 < argc) only = argv[++i];
    if (!std::strcmp(argv[i], "--no-f16")) options.f16 = false;
    if (!std::strcmp(argv[i], "--route") && i + 1 < argc) load.routes.push_back(argv[++i]);
  }
  auto device = Device::open(options);
  if (!device) return std::printf("%s\n", device.error().to_string().c_str()), 1;
  std::printf("adapter: %s\n", device->adapter().name.c_str());
  int passed = 0, failed = 0, unsupported = 0;
  for (const auto& folder : test::find_fixtures(argv[1])) {
    const test::Fixture fixture = test::read_fixture(folder);
    if (fixture.name.find(only) == std::string::npos) continue;
    f64 worst = 0;
    bool missing = false;
    for (const std::string& op : fixture.ops) missing |= graph::find_op(op) == nullptr;
    for (const std::string& op : fixture.portable_ops) missing |= op != "aten::copy_";
    if (missing) {
      ++unsupported;
      if (!only.empty()) std::printf("unsupported %s\n", fixture.name.c_str());
      continue;
    }
    const auto problems = test::run_fixture(fixture, *device, &worst, load);
    (problems.empty() ? passed : failed)++;
    for (const std::string& problem : problems) std::printf("FAIL %s: %s\n", fixture.name.c_str(), problem.c_str());
    if (problems.empty() && !only.empty()) std::printf("ok   %s (worst %g)\n", fixture.name.c_str(), worst);
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed, %d need missing ops or portable kernels between delegates\n", passed, failed, unsupported);
  return failed > 0;
}
