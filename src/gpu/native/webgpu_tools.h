// SPDX-License-Identifier: BSD-3-Clause
// Helpers around webgpu.h shared by the files of this folder. Calls that exist only in wgpu-native are in
// wgpu_only.cpp.
#pragma once

#include "base/error.h"
#include "gpu/native/native.h"

#include <webgpu.h>

#include <mutex>
#include <string>
#include <vector>

namespace pteron::gpu::native {

inline WGPUStringView view(std::string_view s) { return {s.data(), s.size()}; }
inline std::string text(WGPUStringView s) {
  if (!s.data) return {};
  return s.length == WGPU_STRLEN ? std::string(s.data) : std::string(s.data, s.length);
}

// Errors of the calls between construction and pop() come back from pop(). Scopes of wgpu-native belong to a thread.
class ErrorScope {
 public:
  explicit ErrorScope(WGPUDevice device);
  ErrorScope(const ErrorScope&) = delete;
  ErrorScope& operator=(const ErrorScope&) = delete;
  ~ErrorScope();
  Status pop();

 private:
  WGPUDevice device_;
  bool open_ = true;
};

Error error_of(WGPUErrorType type, const std::string& message);

// Blocks until the queue is empty and runs the callbacks that are due.
void poll_until_idle(WGPUDevice device);
WGPUInstance create_instance();
std::vector<WGPUAdapter> enumerate_adapters(WGPUInstance instance);
WGPUFeatureName subgroups_feature();
// Loops that are not known to end get a counter that ends them; accesses are checked against bounds in any case.
WGPUShaderModule create_shader_module(WGPUDevice device, const WGPUShaderModuleDescriptor& descriptor, bool loops_end);
f64 timestamp_period(WGPUQueue queue);  // nanoseconds per tick
void silence_logging();
// Whether it was submitted or not.
void release_commands(WGPUCommandBuffer commands);
Objects count_objects(WGPUInstance instance);

}  // namespace pteron::gpu::native
