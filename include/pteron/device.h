// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <compare>
#include <memory>
#include <string>
#include <vector>

namespace pteron {

struct AdapterDescription {
  u32 index = 0;
  std::string name, driver, backend, type;
  bool software = false;  // a CPU that pretends to be a GPU
  bool f16 = false, subgroups = false, timestamps = false;
  u64 max_buffer_bytes = 0, max_binding_bytes = 0;
  u32 max_workgroup_bytes = 0, max_invocations = 0, max_storage_buffers = 0;
};

struct DeviceOptions {
  // An index, or a part of a name. Empty: $PTERON_ADAPTER, else the best adapter; a real GPU before a software one.
  std::string adapter;
  // Fail rather than fall back to a software adapter.
  bool require_gpu = false;
  // Use f16 and subgroups if the adapter has them.
  bool f16 = true;
  bool subgroups = true;

  friend auto operator<=>(const DeviceOptions&, const DeviceOptions&) = default;
};

// What the GPU holds for us now.
struct GpuUsage {
  u64 buffers = 0, buffer_bytes = 0, peak_buffer_bytes = 0, pipelines = 0, bind_groups = 0;
  u64 creates = 0, writes = 0, written_bytes = 0, submits = 0, dispatches = 0;  // ever
  u64 waited_nanoseconds = 0;                                                   // ever, for the GPU
  u64 prepared_nanoseconds = 0;  // ever, for the step after the one that the GPU worked on
};

// An open GPU. Copies are the same device; programs on one device share their compiled kernels.
class Device {
 public:
  static Result<std::vector<AdapterDescription>> list();
  static Result<Device> open(const DeviceOptions& options = {});
  // The device that is open with these options, unless it is lost; else a new one.
  static Result<Device> shared(const DeviceOptions& options);

  const AdapterDescription& adapter() const;
  GpuUsage usage() const;

  // For the library's own use.
  struct Inside;
  explicit Device(std::shared_ptr<const Inside> inside) : inside_(std::move(inside)) {}
  const Inside& inside() const { return *inside_; }

 private:
  std::shared_ptr<const Inside> inside_;
};

}  // namespace pteron
