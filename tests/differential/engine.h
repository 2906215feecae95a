// SPDX-License-Identifier: BSD-3-Clause
// The devices that graphs are run on.
#pragma once

#include "gpu/device.h"

#include <pteron/device.h>

#include <span>
#include <string_view>

namespace pteron::differential {

// The adapter as it is. Kernels stay compiled from graph to graph.
const Device& engine();

// The same adapter, planned for as if it were another.
struct Disguise {
  std::string_view name;
  void (*put_on)(gpu::DeviceInfo& info);
};
std::span<const Disguise> disguises();
Device disguised(const Disguise& as);

}  // namespace pteron::differential
