// SPDX-License-Identifier: BSD-3-Clause
// Opening a device through webgpu.h.
#pragma once

#include "gpu/device.h"

namespace pteron::gpu {

struct OpenOptions {
  // An index, or a part of an adapter's name in any case. Empty: $PTERON_ADAPTER, else the best one.
  std::string adapter;
  // For tests: pretend to be a smaller device.
  bool disable_f16 = false;
  bool disable_subgroups = false;
  u64 max_storage_binding_bytes = 0;  // 0: the device's
  bool least = false;                 // no more than WebGPU promises everywhere
};

Result<std::vector<DeviceInfo>> list_adapters();
Result<std::shared_ptr<Device>> open_device(const OpenOptions& options = {});

// Whose WebGPU this is: "wgpu-native 29.0.1.1".
std::string implementation();

// For tests: what WebGPU itself says is there, of all that was made for a device.
struct Objects {
  u64 buffers, bind_groups, pipelines, layouts, shaders, recordings, query_sets;
};
Objects objects_of(const Device& device);

// For tests: the device is gone, as after a driver reset. If that was not seen yet, the next call finds it out.
void destroy_underlying_device(Device& device, bool seen = true);

}  // namespace pteron::gpu
