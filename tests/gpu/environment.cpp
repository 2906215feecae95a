// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/environment.h"

#include "gpu/native/native.h"
#include "graph/pass.h"
#include "runtime/device_inside.h"
#include "support/kernel_dump.h"

#include <cstdio>
#include <cstdlib>

namespace pteron::test {

const Device& device() {
  static const Device shared = [] {
    gpu::OpenOptions options;
    options.least = std::getenv("PTERON_TEST_LEAST_DEVICE") != nullptr;
    auto opened = gpu::open_device(options);
    if (!opened) throw std::runtime_error(opened.error().to_string());
    std::shared_ptr<gpu::Device> device = *std::move(opened);
    std::printf("adapter: %s\n", device->info().adapter.name.c_str());  // for the table of platforms
    if (const char* folder = std::getenv("PTERON_DUMP_WGSL"))
      device = std::make_shared<KernelDump>(std::move(device), folder);
    return make_device(std::make_shared<graph::Context>(std::move(device)));
  }();
  return shared;
}

LoadOptions without_passes() {
  LoadOptions options;
  for (const graph::PlannerPass& pass : graph::planner_passes) options.disabled_passes.emplace_back(pass.name);
  for (const graph::Pass* pass : graph::all_passes()) options.disabled_passes.emplace_back(pass->name);
  return options;
}

}  // namespace pteron::test
