// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/environment.h"

#include "gpu/native/native.h"
#include "graph/pass.h"
#include "runtime/device_inside.h"
#include "support/kernel_dump.h"

#include <cstdio>
#include <cstdlib>

namespace pteron::test {
namespace {

// What a test leaves behind belongs to nobody any more.
class NothingIsLeft final : public testing::EmptyTestEventListener {
 public:
  explicit NothingIsLeft(const gpu::Device& device) : device_(device) {}
  void OnTestEnd(const testing::TestInfo&) override {
    const gpu::Objects left = gpu::objects_of(device_);
    EXPECT_EQ(left.buffers, 2 * left.query_sets);  // a device that has measured can do it again
    EXPECT_EQ(left.bind_groups, 0u);
    EXPECT_EQ(left.pipelines, 0u);
    EXPECT_EQ(left.layouts, 0u);
    EXPECT_EQ(left.shaders, 0u);
    EXPECT_EQ(left.recordings, 0u);
  }

 private:
  const gpu::Device& device_;
};

}  // namespace

const Device& device() {
  static const Device shared = [] {
    gpu::OpenOptions options;
    options.least = std::getenv("PTERON_TEST_LEAST_DEVICE") != nullptr;
    auto opened = gpu::open_device(options);
    if (!opened) throw std::runtime_error(opened.error().to_string());
    std::shared_ptr<gpu::Device> device = *std::move(opened);
    testing::UnitTest::GetInstance()->listeners().Append(new NothingIsLeft(*device));
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
