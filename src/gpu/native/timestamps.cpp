// SPDX-License-Identifier: BSD-3-Clause
// Profiling: how long each dispatch of a submission took on the GPU.
#include "gpu/native/native_device.h"

namespace pteron::gpu::native {

void NativeDevice::release_timestamps() {
  if (timestamps_.set) wgpuQuerySetRelease(timestamps_.set);
  if (timestamps_.resolved) wgpuBufferRelease(timestamps_.resolved);
  if (timestamps_.readable) wgpuBufferRelease(timestamps_.readable);
  timestamps_ = {};
}

Status NativeDevice::prepare_timestamps(const Submission& submission) {
  if (!features().timestamps)
    return unsupported("this device has no timestamp queries, so it can't be profiled per op");
  const u32 needed = u32(submission.dispatches.size()) * 2;
  if (needed > 4096) return unsupported("profiling covers at most 2,048 dispatches, this program has ", needed / 2);
  if (needed > timestamps_.capacity) {
    release_timestamps();
    const WGPUQuerySetDescriptor set{.label = WGPU_STRING_VIEW_INIT, .type = WGPUQueryType_Timestamp, .count = needed};
    WGPUBufferDescriptor buffer = WGPU_BUFFER_DESCRIPTOR_INIT;
    buffer.size = u64(needed) * sizeof(u64);
    ErrorScope scope(device_);
    timestamps_.set = wgpuDeviceCreateQuerySet(device_, &set);
    buffer.usage = WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc;
    timestamps_.resolved = wgpuDeviceCreateBuffer(device_, &buffer);
    buffer.usage = WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst;
    timestamps_.readable = wgpuDeviceCreateBuffer(device_, &buffer);
    TRY_DO(scope.pop());
    timestamps_.capacity = needed;
  }
  timestamps_.used = needed;
  timestamps_.into = submission.durations;
  return {};
}

Status NativeDevice::read_timestamps() {
  if (!timestamps_.into) return {};
  std::vector<u64>& durations = *std::exchange(timestamps_.into, nullptr);
  durations.assign(timestamps_.used / 2, 0);
  if (timestamps_.used == 0) return {};
  const u64 bytes = u64(timestamps_.used) * sizeof(u64);
  start(timestamp_read_, timestamps_.readable, bytes);
  poll_until_idle(device_);
  TRY_DO(wait_for(timestamp_read_));
  if (timestamp_read_.status != WGPUMapAsyncStatus_Success)
    return fail(ErrorKind::device_lost, "the GPU's timestamps could not be read: ", timestamp_read_.message);
  const auto* ticks = static_cast<const u64*>(wgpuBufferGetConstMappedRange(timestamps_.readable, 0, bytes));
  const f64 period = timestamp_period(queue_);
  for (size_t i = 0; i < durations.size(); ++i) {
    const u64 begin = ticks[2 * i], end = ticks[2 * i + 1];
    durations[i] = end > begin ? u64(f64(end - begin) * period) : 0;
  }
  wgpuBufferUnmap(timestamps_.readable);
  return {};
}

}  // namespace pteron::gpu::native
