// SPDX-License-Identifier: BSD-3-Clause
// Finding adapters, choosing one, opening it with its full limits.
#include "base/os.h"
#include "gpu/native/native.h"
#include "gpu/native/native_device.h"
#include "gpu/native/webgpu_tools.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace pteron::gpu {
namespace {

using native::text;

class Instance {
 public:
  Instance() {
    native::silence_logging();
    instance_ = native::create_instance();
    if (instance_) adapters_ = native::enumerate_adapters(instance_);
  }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance() {
    for (WGPUAdapter adapter : adapters_) wgpuAdapterRelease(adapter);
    if (instance_) wgpuInstanceRelease(instance_);
  }
  WGPUInstance get() const { return instance_; }
  const std::vector<WGPUAdapter>& adapters() const { return adapters_; }

 private:
  WGPUInstance instance_ = nullptr;
  std::vector<WGPUAdapter> adapters_;
};

std::string backend_name(WGPUBackendType type) {
  switch (type) {
    case WGPUBackendType_Vulkan: return "Vulkan";
    case WGPUBackendType_Metal: return "Metal";
    case WGPUBackendType_D3D12: return "D3D12";
    case WGPUBackendType_D3D11: return "D3D11";
    case WGPUBackendType_OpenGL: return "OpenGL";
    case WGPUBackendType_OpenGLES: return "OpenGL ES";
    default: return "unknown";
  }
}

AdapterType adapter_type(WGPUAdapterType type) {
  switch (type) {
    case WGPUAdapterType_DiscreteGPU: return AdapterType::discrete;
    case WGPUAdapterType_IntegratedGPU: return AdapterType::integrated;
    case WGPUAdapterType_CPU: return AdapterType::cpu;
    default: return AdapterType::unknown;
  }
}

DeviceInfo describe(WGPUAdapter adapter, u32 index) {
  DeviceInfo out;
  WGPUAdapterInfo info{.adapterType = WGPUAdapterType_Unknown};
  wgpuAdapterGetInfo(adapter, &info);
  out.adapter = {index, text(info.device), text(info.description), backend_name(info.backendType),
                 adapter_type(info.adapterType)};
  out.features.subgroup_min = info.subgroupMinSize;
  out.features.subgroup_max = info.subgroupMaxSize;
  wgpuAdapterInfoFreeMembers(info);
  out.features.f16 = wgpuAdapterHasFeature(adapter, WGPUFeatureName_ShaderF16);
  // WebGPU promises four lanes or more, this port whatever the driver has; 0 is unknown.
  const bool narrow = out.features.subgroup_min > 0 && out.features.subgroup_min < 4;
  out.features.subgroups = !narrow && wgpuAdapterHasFeature(adapter, native::subgroups_feature());
  out.features.timestamps = wgpuAdapterHasFeature(adapter, WGPUFeatureName_TimestampQuery);
  WGPULimits limits = WGPU_LIMITS_INIT;
  wgpuAdapterGetLimits(adapter, &limits);
  out.limits.max_buffer_bytes = limits.maxBufferSize;
  // Bindings are addressed with 32-bit byte offsets in every shading language below us.
  out.limits.max_storage_binding_bytes = std::min<u64>(limits.maxStorageBufferBindingSize, 0xFFFF'FFFC);
  out.limits.max_uniform_binding_bytes = limits.maxUniformBufferBindingSize;
  out.limits.max_storage_buffers = limits.maxStorageBuffersPerShaderStage;
  out.limits.max_workgroup_bytes = limits.maxComputeWorkgroupStorageSize;
  out.limits.max_invocations = std::min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX);
  out.limits.max_workgroups = limits.maxComputeWorkgroupsPerDimension;
  return out;
}

bool contains_ignoring_case(std::string_view haystack, std::string_view needle) {
  const auto same = [](char a, char b) { return std::tolower(u8(a)) == std::tolower(u8(b)); };
  return std::search(haystack.begin(), haystack.end(), needle.begin(), needle.end(), same) != haystack.end();
}

std::string list_text(const std::vector<DeviceInfo>& infos) {
  std::string out;
  for (const DeviceInfo& info : infos) out += str(out.empty() ? "" : "; ", info.adapter.index, ": ", info.adapter.name);
  return out;
}

int preference(const DeviceInfo& info) {
  switch (info.adapter.type) {
    case AdapterType::discrete: return 0;
    case AdapterType::integrated: return 1;
    case AdapterType::virtual_gpu: return 2;
    case AdapterType::unknown: return 3;
    case AdapterType::cpu: return 4;
  }
  return 5;
}

Result<u32> choose(const std::vector<DeviceInfo>& infos, std::string wanted) {
  if (infos.empty())
    return not_found(
        "no WebGPU adapter was found; install a Vulkan driver (on Debian without a GPU: apt-get install "
        "mesa-vulkan-drivers)");
  if (wanted.empty()) wanted = os::environment("PTERON_ADAPTER");
  if (wanted.empty()) {
    const auto best = std::min_element(infos.begin(), infos.end(),
                                       [](const auto& a, const auto& b) { return preference(a) < preference(b); });
    return u32(best - infos.begin());
  }
  u32 index = 0;
  const auto [end, code] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
  if (code == std::errc() && end == wanted.data() + wanted.size()) {
    if (index < infos.size()) return index;
    return not_found("adapter ", index, " does not exist; there are: ", list_text(infos));
  }
  for (const DeviceInfo& info : infos)
    if (contains_ignoring_case(info.adapter.name, wanted) || contains_ignoring_case(info.adapter.driver, wanted))
      return info.adapter.index;
  return not_found("no adapter is called '", wanted, "'; there are: ", list_text(infos));
}

std::vector<DeviceInfo> describe_all(const Instance& instance) {
  std::vector<DeviceInfo> out;
  for (WGPUAdapter adapter : instance.adapters()) out.push_back(describe(adapter, u32(out.size())));
  return out;
}

}  // namespace

Result<std::vector<DeviceInfo>> list_adapters() {
  const Instance instance;
  if (!instance.get()) return unsupported("WebGPU could not be started on this system");
  return describe_all(instance);
}

Result<std::shared_ptr<Device>> open_device(const OpenOptions& options) {
  const Instance instance;
  if (!instance.get()) return unsupported("WebGPU could not be started on this system");
  const std::vector<DeviceInfo> infos = describe_all(instance);
  TRY(const u32 index, choose(infos, options.adapter));
  DeviceInfo info = infos[index];
  if (options.least) info.limits = Limits(), info.features = Features();
  if (options.disable_f16) info.features.f16 = false;
  if (options.disable_subgroups) info.features.subgroups = false;
  if (options.max_storage_binding_bytes > 0)
    info.limits.max_storage_binding_bytes =
        std::min(info.limits.max_storage_binding_bytes, options.max_storage_binding_bytes);
  return native::NativeDevice::open(instance.get(), instance.adapters()[index], std::move(info));
}

}  // namespace pteron::gpu
