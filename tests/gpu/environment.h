// SPDX-License-Identifier: BSD-3-Clause
// One device for all GPU tests of a process.
#pragma once

#include "graph/context.h"

#include <pteron/device.h>

#include <gtest/gtest.h>

namespace pteron::test {

inline const Device& device() {
  static const Device shared = [] {
    auto opened = Device::open({});
    if (!opened) throw std::runtime_error(opened.error().to_string());
    return *std::move(opened);
  }();
  return shared;
}

// The same device with kernels chosen as for an adapter of this type, so that every route is tested on every adapter.
inline Device device_as(gpu::AdapterType type) {
  gpu::DeviceInfo info = device().context()->info();
  info.adapter.type = type;
  return Device(std::make_shared<graph::Context>(device().context()->device().shared_from_this(), std::move(info)));
}

}  // namespace pteron::test
