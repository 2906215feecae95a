// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/native/webgpu_tools.h"

namespace pteron::gpu::native {
namespace {

// wgpu-native ends the process when it is given the third filter, WGPUErrorFilter_Internal.
constexpr WGPUErrorFilter filters[] = {WGPUErrorFilter_Validation, WGPUErrorFilter_OutOfMemory};

struct Caught {
  WGPUErrorType type = WGPUErrorType_NoError;
  std::string message;
};

Caught pop_one(WGPUDevice device) {
  Caught caught;
  WGPUPopErrorScopeCallbackInfo info{};
  info.mode = WGPUCallbackMode_AllowSpontaneous;
  info.userdata1 = &caught;
  info.callback = [](WGPUPopErrorScopeStatus status, WGPUErrorType type, WGPUStringView message, void* user, void*) {
    if (status != WGPUPopErrorScopeStatus_Success) return;
    auto* out = static_cast<Caught*>(user);
    out->type = type;
    out->message = text(message);
  };
  wgpuDevicePopErrorScope(device, info);
  return caught;
}

}  // namespace

ErrorScope::ErrorScope(WGPUDevice device) : device_(device) {
  for (WGPUErrorFilter filter : filters) wgpuDevicePushErrorScope(device_, filter);
}

ErrorScope::~ErrorScope() {
  if (open_) (void)pop();
}

Status ErrorScope::pop() {
  open_ = false;
  Caught first;
  for (size_t i = 0; i < std::size(filters); ++i)
    if (Caught caught = pop_one(device_); caught.type != WGPUErrorType_NoError) first = std::move(caught);
  switch (first.type) {
    case WGPUErrorType_NoError: return {};
    case WGPUErrorType_OutOfMemory: return fail(ErrorKind::out_of_memory, "the GPU is out of memory: ", first.message);
    default: return internal_error("WebGPU: ", first.message);
  }
}

}  // namespace pteron::gpu::native
