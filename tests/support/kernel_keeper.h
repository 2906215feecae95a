// SPDX-License-Identifier: BSD-3-Clause
// Keeps kernels compiled after the programs that had them are gone: a software adapter takes most of a small graph's
// time for compiling, and graphs of a kind share their kernels.
#pragma once

#include "support/forwarding_device.h"

#include <list>

namespace pteron::test {

class KernelKeeper final : public ForwardingDevice {
 public:
  explicit KernelKeeper(std::shared_ptr<gpu::Device> inner) : ForwardingDevice(std::move(inner)) {}

  Result<std::unique_ptr<PipelineBatch>> compile(std::vector<gpu::PipelineSpec> specs) override;
  Result<gpu::Pipeline> compile_now(const gpu::PipelineSpec& spec) override;

 protected:
  void destroy_pipeline(gpu::Id id) override;

 private:
  struct Kept {
    std::string source;
    gpu::Id id = 0;
    u32 users = 0;
  };
  using Kernels = std::list<Kept>;  // those last used first

  std::recursive_mutex mutex_;
  Kernels kernels_;
  std::unordered_map<std::string_view, Kernels::iterator> by_source_;
  std::unordered_map<gpu::Id, Kernels::iterator> by_id_;
};

}  // namespace pteron::test
