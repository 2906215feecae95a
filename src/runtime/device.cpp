// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/device_inside.h"

#include <map>
#include <mutex>

namespace pteron {

AdapterDescription describe_adapter(const gpu::DeviceInfo& info) {
  AdapterDescription out;
  out.index = info.adapter.index;
  out.name = info.adapter.name;
  out.driver = info.adapter.driver;
  out.backend = info.adapter.backend;
  out.type = std::string(name_of(info.adapter.type));
  out.software = info.adapter.type == gpu::AdapterType::cpu;
  out.f16 = info.features.f16;
  out.subgroups = info.features.subgroups;
  out.timestamps = info.features.timestamps;
  out.max_buffer_bytes = info.limits.max_buffer_bytes;
  out.max_binding_bytes = info.limits.max_storage_binding_bytes;
  out.max_workgroup_bytes = info.limits.max_workgroup_bytes;
  out.max_invocations = info.limits.max_invocations;
  out.max_storage_buffers = info.limits.max_storage_buffers;
  return out;
}

Device make_device(std::shared_ptr<graph::Context> context) {
  AdapterDescription adapter = describe_adapter(context->info());
  return Device(std::make_shared<const Device::Inside>(std::move(context), std::move(adapter)));
}

Result<Device> Device::shared(const DeviceOptions& options) {
  static std::mutex mutex;
  // Weak: the GPU is let go with the last program that uses it.
  static std::map<DeviceOptions, std::weak_ptr<graph::Context>> open_devices;
  const std::scoped_lock lock(mutex);
  auto& known = open_devices[options];
  if (auto context = known.lock(); context && context->device().health()) return make_device(std::move(context));
  TRY(Device device, open(options));
  known = context_of(device);
  return device;
}

const AdapterDescription& Device::adapter() const { return inside_->adapter; }

GpuUsage Device::usage() const {
  const gpu::Counters& c = inside_->context->device().counters();
  return {c.buffers, c.buffer_bytes,  c.peak_buffer_bytes, c.pipelines,  c.bind_groups,        c.creates,
          c.writes,  c.written_bytes, c.submits,           c.dispatches, c.waited_nanoseconds, c.prepared_nanoseconds};
}

}  // namespace pteron
