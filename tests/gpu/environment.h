// SPDX-License-Identifier: BSD-3-Clause
// One device for all GPU tests of a process.
#pragma once

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

}  // namespace pteron::test
