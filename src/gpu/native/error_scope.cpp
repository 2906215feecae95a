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
  WGPUPopErrorScopeCallbackInfo info{.mode = WGPUCallbackMode_AllowSpontaneous};
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
  if (first.type == WGPUErrorType_NoError) return {};
  return Failure(error_of(first.type, first.message));
}

// What is asked of a lost device is invalid, and that may be seen before the loss is reported.
Error error_of(WGPUErrorType type, const std::string& message) {
  if (message.find("device is lost") != std::string::npos)
    return {ErrorKind::device_lost, "the GPU device was lost: " + message, {}};
  if (type == WGPUErrorType_OutOfMemory) return {ErrorKind::out_of_memory, "the GPU is out of memory: " + message, {}};
  return {ErrorKind::internal, "WebGPU: " + message, {}};
}

}  // namespace pteron::gpu::native
