// SPDX-License-Identifier: BSD-3-Clause
#include "differential/engine.h"

#include "gpu/native/native.h"
#include "runtime/device_inside.h"
#include "support/kernel_keeper.h"

#include <cstdio>

namespace pteron::differential {
namespace {

const std::shared_ptr<gpu::Device>& keeper() {
  static const std::shared_ptr<gpu::Device> shared = [] {
    auto opened = gpu::open_device();
    if (!opened) throw std::runtime_error(opened.error().to_string());
    std::printf("adapter: %s\n", (*opened)->info().adapter.name.c_str());
    return std::make_shared<test::KernelKeeper>(*std::move(opened));
  }();
  return shared;
}

constexpr Disguise all[] = {
    {"without half precision", [](gpu::DeviceInfo& info) { info.features.f16 = false; }},
    {"without subgroups", [](gpu::DeviceInfo& info) { info.features.subgroups = false; }},
    {"as a GPU", [](gpu::DeviceInfo& info) { info.adapter.type = gpu::AdapterType::discrete; }},
    {"with WebGPU's least limits", [](gpu::DeviceInfo& info) { info.limits = gpu::Limits(), info.features = {}; }},
};

}  // namespace

const Device& engine() {
  static const Device shared = make_device(std::make_shared<graph::Context>(keeper()));
  return shared;
}

std::span<const Disguise> disguises() { return all; }

Device disguised(const Disguise& as) {
  gpu::DeviceInfo info = keeper()->info();
  as.put_on(info);
  return make_device(std::make_shared<graph::Context>(keeper(), info));
}

}  // namespace pteron::differential
