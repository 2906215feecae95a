// SPDX-License-Identifier: BSD-3-Clause
// What a Device is to the library itself.
#pragma once

#include "graph/context.h"

#include <pteron/device.h>

namespace pteron {

struct Device::Inside {
  std::shared_ptr<graph::Context> context;
  AdapterDescription adapter;
};

AdapterDescription describe_adapter(const gpu::DeviceInfo& info);
Device make_device(std::shared_ptr<graph::Context> context);
inline const std::shared_ptr<graph::Context>& context_of(const Device& device) { return device.inside().context; }

}  // namespace pteron
