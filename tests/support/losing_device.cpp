// SPDX-License-Identifier: BSD-3-Clause
// A program whose GPU goes away when it is told to: after SIGUSR1 the next work that is begun finds no device. Linked
// in front of WebGPU with --wrap.
#include <webgpu.h>

#include <csignal>

namespace {

volatile std::sig_atomic_t lose = 0;

[[maybe_unused]] const auto before = std::signal(SIGUSR1, [](int) { lose = 1; });

}  // namespace

// The linker's names for --wrap.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {

WGPUCommandEncoder __real_wgpuDeviceCreateCommandEncoder(WGPUDevice device,
                                                         const WGPUCommandEncoderDescriptor* descriptor);
WGPUCommandEncoder __wrap_wgpuDeviceCreateCommandEncoder(WGPUDevice device,
                                                         const WGPUCommandEncoderDescriptor* descriptor) {
  if (lose) {
    lose = 0;
    wgpuDeviceDestroy(device);
  }
  return __real_wgpuDeviceCreateCommandEncoder(device, descriptor);
}
}
// NOLINTEND(bugprone-reserved-identifier)
