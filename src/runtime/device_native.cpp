// SPDX-License-Identifier: BSD-3-Clause
// Finding and opening GPUs outside of a browser.
#include "gpu/native/native.h"
#include "runtime/device_inside.h"

namespace pteron {

Result<std::vector<AdapterDescription>> Device::list() {
  TRY(const auto infos, gpu::list_adapters());
  std::vector<AdapterDescription> out;
  out.reserve(infos.size());
  for (const gpu::DeviceInfo& info : infos) out.push_back(describe_adapter(info));
  return out;
}

Result<Device> Device::open(const DeviceOptions& options) {
  gpu::OpenOptions open;
  open.adapter = options.adapter;
  open.disable_f16 = !options.f16;
  open.disable_subgroups = !options.subgroups;
  TRY(auto device, gpu::open_device(open));
  if (options.require_gpu && device->info().adapter.type == gpu::AdapterType::cpu)
    return unsupported("a GPU is required, but only the software adapter '", device->info().adapter.name,
                       "' was found; install the GPU's Vulkan driver, or run without --require-gpu");
  return make_device(std::make_shared<graph::Context>(std::move(device)));
}

}  // namespace pteron
