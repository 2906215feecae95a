// SPDX-License-Identifier: BSD-3-Clause
// The calls that are wgpu-native's own. Another webgpu.h implementation replaces this file.
#include "base/text.h"
#include "gpu/native/native.h"
#include "gpu/native/webgpu_tools.h"

#include <wgpu.h>

#include <vector>

namespace pteron::gpu::native {
namespace {

// A number that wgpu-native adds to an enum of webgpu.h.
template <class Enum>
Enum own(u32 number) {
  return Enum(number);  // NOLINT(clang-analyzer-optin.core.EnumCastOutOfRange): it has 32 bits
}

}  // namespace

void poll_until_idle(WGPUDevice device) { wgpuDevicePoll(device, true, nullptr); }

// Without OpenGL: its compute is not WebGPU's, and looking for it prints warnings.
WGPUInstance create_instance() {
  WGPUInstanceExtras extras{.chain = {.sType = own<WGPUSType>(WGPUSType_InstanceExtras)}};
  extras.backends = WGPUInstanceBackend_Primary;
  WGPUInstanceDescriptor descriptor = WGPU_INSTANCE_DESCRIPTOR_INIT;
  descriptor.nextInChain = &extras.chain;
  return wgpuCreateInstance(&descriptor);
}

std::vector<WGPUAdapter> enumerate_adapters(WGPUInstance instance) {
  WGPUInstanceEnumerateAdapterOptions options{};
  options.backends = WGPUInstanceBackend_Primary;
  std::vector<WGPUAdapter> adapters(wgpuInstanceEnumerateAdapters(instance, &options, nullptr));
  if (!adapters.empty()) wgpuInstanceEnumerateAdapters(instance, &options, adapters.data());
  return adapters;
}

WGPUFeatureName subgroups_feature() { return own<WGPUFeatureName>(WGPUNativeFeature_Subgroup); }

WGPUShaderModule create_shader_module(WGPUDevice device, const WGPUShaderModuleDescriptor& descriptor, bool loops_end) {
  if (!loops_end) return wgpuDeviceCreateShaderModule(device, &descriptor);
  return wgpuDeviceCreateShaderModuleTrusted(device, &descriptor, WGPUShaderRuntimeChecks_BoundsChecks);
}

f64 timestamp_period(WGPUQueue queue) { return wgpuQueueGetTimestampPeriod(queue); }

void silence_logging() { wgpuSetLogLevel(WGPULogLevel_Off); }

// This version frees a command buffer only if a flag says that it was submitted; others were kept for ever: 300 KiB for
// a step of 300 dispatches on lavapipe. The flag lies behind a pointer and a number of 64 bits, in the one library
// where tests count what is left.
void release_commands(WGPUCommandBuffer commands) {
#if defined(__linux__) && defined(__x86_64__)
  constexpr u32 version = 29u << 24 | 1 << 8 | 1;
  if (wgpuGetVersion() == version) reinterpret_cast<u8*>(commands)[2 * sizeof(u64)] = 1;
#endif
  wgpuCommandBufferRelease(commands);
}

Objects count_objects(WGPUInstance instance) {
  WGPUGlobalReport report{};
  wgpuGenerateReport(instance, &report);
  const WGPUHubReport& hub = report.hub;
  return {.buffers = hub.buffers.numAllocated,
          .bind_groups = hub.bindGroups.numAllocated,
          .pipelines = hub.computePipelines.numAllocated,
          .layouts = hub.bindGroupLayouts.numAllocated + hub.pipelineLayouts.numAllocated,
          .shaders = hub.shaderModules.numAllocated,
          .recordings = hub.commandBuffers.numAllocated,
          .query_sets = hub.querySets.numAllocated};
}

}  // namespace pteron::gpu::native

namespace pteron::gpu {

std::string implementation() {
  const u32 version = wgpuGetVersion();  // a byte for each part
  return str("wgpu-native ", version >> 24, ".", version >> 16 & 255, ".", version >> 8 & 255, ".", version & 255);
}

}  // namespace pteron::gpu
