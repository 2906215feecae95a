// SPDX-License-Identifier: BSD-3-Clause
// Writes the WGSL of every pipeline that passes through into a folder, once each, for another compiler to check. The
// first line of a file says how its bindings are declared to the device.
#pragma once

#include "support/forwarding_device.h"

#include <filesystem>

namespace pteron::test {

class KernelDump final : public ForwardingDevice {
 public:
  // Removes what an earlier run left in the folder.
  KernelDump(std::shared_ptr<gpu::Device> inner, std::filesystem::path folder);

  Result<std::unique_ptr<PipelineBatch>> compile(std::vector<gpu::PipelineSpec> specs) override;
  Result<gpu::Pipeline> compile_now(const gpu::PipelineSpec& spec) override;

 private:
  void write_file(const gpu::PipelineSpec& spec) const;
  std::filesystem::path folder_;
};

}  // namespace pteron::test
