// SPDX-License-Identifier: BSD-3-Clause
// In a browser the page has chosen and opened the GPU before this code runs.
#include "gpu/browser/browser.h"
#include "runtime/device_inside.h"

namespace pteron {

Result<std::vector<AdapterDescription>> Device::list() {
  TRY(const Device device, open());
  return std::vector{device.adapter()};
}

Result<Device> Device::open(const DeviceOptions& options) {
  TRY(auto device, gpu::open_browser_device({options.f16, options.subgroups}));
  if (options.require_gpu && device->info().adapter.type == gpu::AdapterType::cpu)
    return unsupported("a GPU is required, but this browser has only the software adapter '",
                       device->info().adapter.name, "'");
  return make_device(std::make_shared<graph::Context>(std::move(device)));
}

}  // namespace pteron
