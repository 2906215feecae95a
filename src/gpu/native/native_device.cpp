// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/native/native_device.h"

#include "gpu/native/native.h"
#include "gpu/native/unknown_parameters.h"

#include <array>
#include <chrono>
#include <cstring>

namespace pteron::gpu {

void destroy_underlying_device(Device& device, bool seen) {
  static_cast<native::NativeDevice&>(device).destroy_underlying(seen);
}

Objects objects_of(const Device& device) { return static_cast<const native::NativeDevice&>(device).objects(); }

namespace native {
namespace {

template <class Object>
Object* at(Id id) {
  return reinterpret_cast<Object*>(id);  // NOLINT(performance-no-int-to-ptr): the port names objects by numbers
}
WGPUBuffer buffer_of(Id id) { return at<WGPUBufferImpl>(id); }
WGPUBindGroup bind_group_of(Id id) { return at<WGPUBindGroupImpl>(id); }
WGPUCommandBuffer commands_of(Id id) { return at<WGPUCommandBufferImpl>(id); }

constexpr size_t max_bindings = 16;

WGPUBufferBindingType binding_type(BindingKind kind) {
  switch (kind) {
    case BindingKind::uniform: return WGPUBufferBindingType_Uniform;
    case BindingKind::read: return WGPUBufferBindingType_ReadOnlyStorage;
    case BindingKind::read_write: return WGPUBufferBindingType_Storage;
  }
  return WGPUBufferBindingType_Storage;
}

// What we count on is asked for and nothing more, so that WebGPU itself refuses what would exceed it.
WGPULimits requested_limits(WGPUAdapter adapter, const Limits& wanted) {
  WGPULimits limits = WGPU_LIMITS_INIT;
  wgpuAdapterGetLimits(adapter, &limits);
  limits.nextInChain = nullptr;
  limits.maxBufferSize = wanted.max_buffer_bytes;
  limits.maxStorageBufferBindingSize = wanted.max_storage_binding_bytes;
  limits.maxUniformBufferBindingSize = wanted.max_uniform_binding_bytes;
  limits.maxStorageBuffersPerShaderStage = wanted.max_storage_buffers;
  limits.maxComputeWorkgroupStorageSize = wanted.max_workgroup_bytes;
  limits.maxComputeInvocationsPerWorkgroup = limits.maxComputeWorkgroupSizeX = wanted.max_invocations;
  limits.maxComputeWorkgroupSizeY = std::min(limits.maxComputeWorkgroupSizeY, wanted.max_invocations);
  limits.maxComputeWorkgroupsPerDimension = wanted.max_workgroups;
  limits.minStorageBufferOffsetAlignment = limits.minUniformBufferOffsetAlignment = 256;  // WebGPU's default
  return limits;
}

bool is_lavapipe(const DeviceInfo& info) { return info.adapter.name.starts_with("llvmpipe"); }

}  // namespace

NativeDevice::NativeDevice(WGPUInstance instance, DeviceInfo info) : instance_(instance) {
  wgpuInstanceAddRef(instance_);
  info_ = std::move(info);
}

Result<std::shared_ptr<Device>> NativeDevice::open(WGPUInstance instance, WGPUAdapter adapter, DeviceInfo info) {
  auto self = std::make_shared<NativeDevice>(instance, std::move(info));
  std::vector<WGPUFeatureName> wanted;
  if (self->features().f16) wanted.push_back(WGPUFeatureName_ShaderF16);
  if (self->features().subgroups) wanted.push_back(subgroups_feature());
  if (self->features().timestamps) wanted.push_back(WGPUFeatureName_TimestampQuery);
  const WGPULimits limits = requested_limits(adapter, self->limits());

  WGPUDeviceDescriptor descriptor = WGPU_DEVICE_DESCRIPTOR_INIT;
  descriptor.label = view("pteron");
  descriptor.requiredFeatures = wanted.data();
  descriptor.requiredFeatureCount = wanted.size();
  descriptor.requiredLimits = &limits;
  descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowSpontaneous;
  descriptor.deviceLostCallbackInfo.userdata1 = self.get();
  descriptor.deviceLostCallbackInfo.callback = [](WGPUDevice const*, WGPUDeviceLostReason, WGPUStringView message,
                                                  void* user, void*) {
    static_cast<NativeDevice*>(user)->give_up(
        {ErrorKind::device_lost, str("the GPU device was lost: ", text(message)), {}});
  };
  descriptor.uncapturedErrorCallbackInfo.userdata1 = self.get();
  descriptor.uncapturedErrorCallbackInfo.callback = [](WGPUDevice const*, WGPUErrorType type, WGPUStringView message,
                                                       void* user, void*) {
    static_cast<NativeDevice*>(user)->give_up(error_of(type, text(message)));
  };

  struct Answer {
    WGPUDevice device = nullptr;
    std::string message;
  } answer;
  WGPURequestDeviceCallbackInfo callback{.mode = WGPUCallbackMode_AllowSpontaneous};
  callback.userdata1 = &answer;
  callback.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView message, void* user, void*) {
    *static_cast<Answer*>(user) = {device, text(message)};
  };
  wgpuAdapterRequestDevice(adapter, &descriptor, callback);
  if (!answer.device) return unsupported("adapter '", self->info().adapter.name, "' gives no device: ", answer.message);
  self->device_ = answer.device;
  self->queue_ = wgpuDeviceGetQueue(answer.device);
  return self;
}

NativeDevice::~NativeDevice() {
  if (!orphans_.empty()) poll_until_idle(device_);
  release_timestamps();
  if (queue_) wgpuQueueRelease(queue_);
  if (device_) wgpuDeviceRelease(device_);
  wgpuInstanceRelease(instance_);
}

void NativeDevice::destroy_underlying(bool seen) {
  const std::scoped_lock lock(mutex_);  // not between a look at health() and a submit
  wgpuDeviceDestroy(device_);
  // The library reports the loss only when it is polled next.
  if (seen) give_up({ErrorKind::device_lost, "the GPU device was lost: it was destroyed", {}});
}

Status NativeDevice::end_of(ErrorScope& scope) {
  Status status = scope.pop();
  if (!status && status.error().kind == ErrorKind::device_lost) give_up(status.error());
  return status;
}

Result<Id> NativeDevice::make_buffer(u64 size, BufferUse use, std::string_view label) {
  WGPUBufferDescriptor descriptor = WGPU_BUFFER_DESCRIPTOR_INIT;
  descriptor.label = view(label);
  descriptor.size = size;
  descriptor.usage = use == BufferUse::readback ? WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst
                                                : WGPUBufferUsage_Storage | WGPUBufferUsage_Uniform |
                                                      WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
  ErrorScope scope(device_);
  WGPUBuffer buffer = wgpuDeviceCreateBuffer(device_, &descriptor);
  if (auto status = end_of(scope); !status || !buffer) {
    if (buffer) wgpuBufferRelease(buffer);
    if (status)
      return fail(ErrorKind::out_of_memory, "the GPU gave no buffer of ", human_bytes(size), " for '", label, "'");
    return Failure(std::move(status.error()).within(str("allocating ", human_bytes(size), " for '", label, "'")));
  }
  return reinterpret_cast<Id>(buffer);
}

void NativeDevice::destroy_buffer(Id id) {
  {
    const std::scoped_lock lock(mutex_);
    forget_orphans();
    if (const auto read = reads_.find(id); read != reads_.end()) {
      if (!read->second->is_done()) orphans_.push_back(std::move(read->second));
      reads_.erase(read);
    }
  }
  // Its memory goes as soon as the GPU is done with it, although commands that were recorded and are not needed any
  // more may still name it.
  wgpuBufferDestroy(buffer_of(id));
  wgpuBufferRelease(buffer_of(id));
}

u64 NativeDevice::buffer_size(Id id) const { return wgpuBufferGetSize(buffer_of(id)); }

Result<Pipeline> NativeDevice::compile_now(const PipelineSpec& spec) {
  TRY_DO(health());
  const auto explain = [&](Error error) -> Error {
    if (spec.explain) error.message = spec.explain(std::move(error.message));
    return std::move(error).within(str("kernel ", spec.label));
  };
  if (spec.bindings.size() > max_bindings)
    return internal_error("kernel ", spec.label, " has ", spec.bindings.size(), " bindings");
  ErrorScope scope(device_);
  std::array<WGPUBindGroupLayoutEntry, max_bindings> entries{};
  for (size_t i = 0; i < spec.bindings.size(); ++i) {
    entries[i] = WGPU_BIND_GROUP_LAYOUT_ENTRY_INIT;
    entries[i].binding = u32(i);
    entries[i].visibility = WGPUShaderStage_Compute;
    entries[i].buffer.type = binding_type(spec.bindings[i]);
    entries[i].buffer.hasDynamicOffset = i == 0;
  }
  WGPUBindGroupLayoutDescriptor group = WGPU_BIND_GROUP_LAYOUT_DESCRIPTOR_INIT;
  group.entries = entries.data();
  group.entryCount = spec.bindings.size();
  WGPUBindGroupLayout group_layout = wgpuDeviceCreateBindGroupLayout(device_, &group);
  WGPUPipelineLayoutDescriptor layout = WGPU_PIPELINE_LAYOUT_DESCRIPTOR_INIT;
  layout.bindGroupLayouts = &group_layout;
  layout.bindGroupLayoutCount = 1;
  WGPUPipelineLayout pipeline_layout = wgpuDeviceCreatePipelineLayout(device_, &layout);
  WGPUShaderSourceWGSL code = WGPU_SHADER_SOURCE_WGSL_INIT;
  const std::string source = is_lavapipe(info()) ? with_unknown_parameters(spec.source) : spec.source;
  code.code = view(source);
  WGPUShaderModuleDescriptor module_descriptor = WGPU_SHADER_MODULE_DESCRIPTOR_INIT;
  module_descriptor.nextInChain = &code.chain;
  module_descriptor.label = view(spec.label);
  WGPUShaderModule module = create_shader_module(device_, module_descriptor, spec.loops_end);
  WGPUComputePipelineDescriptor descriptor = WGPU_COMPUTE_PIPELINE_DESCRIPTOR_INIT;
  descriptor.label = view(spec.label);
  descriptor.layout = pipeline_layout;
  descriptor.compute.module = module;
  descriptor.compute.entryPoint = view("main");
  WGPUComputePipeline pipeline = module ? wgpuDeviceCreateComputePipeline(device_, &descriptor) : nullptr;
  if (module) wgpuShaderModuleRelease(module);
  wgpuPipelineLayoutRelease(pipeline_layout);
  if (auto status = end_of(scope); !status || !pipeline) {
    if (pipeline) wgpuComputePipelineRelease(pipeline);
    wgpuBindGroupLayoutRelease(group_layout);
    if (status) return Failure(explain({ErrorKind::internal, "the pipeline could not be created", {}}));
    return Failure(explain(std::move(status.error())));
  }
  return adopt_pipeline(reinterpret_cast<Id>(new PipelineObject{pipeline, group_layout}));
}

void NativeDevice::destroy_pipeline(Id id) {
  const std::unique_ptr<PipelineObject> object(at<PipelineObject>(id));
  wgpuComputePipelineRelease(object->pipeline);
  wgpuBindGroupLayoutRelease(object->layout);
}

Result<Id> NativeDevice::make_bind_group(Id pipeline, std::span<const BindingRange> bindings, std::string_view label) {
  if (bindings.size() > max_bindings) return internal_error("a bind group has ", bindings.size(), " entries");
  std::array<WGPUBindGroupEntry, max_bindings> entries{};
  for (size_t i = 0; i < bindings.size(); ++i) {
    entries[i] = WGPU_BIND_GROUP_ENTRY_INIT;
    entries[i].binding = u32(i);
    entries[i].buffer = buffer_of(bindings[i].buffer);
    entries[i].offset = bindings[i].offset;
    entries[i].size = bindings[i].size;
  }
  WGPUBindGroupDescriptor descriptor = WGPU_BIND_GROUP_DESCRIPTOR_INIT;
  descriptor.label = view(label);
  descriptor.layout = at<PipelineObject>(pipeline)->layout;
  descriptor.entries = entries.data();
  descriptor.entryCount = bindings.size();
  ErrorScope scope(device_);
  WGPUBindGroup group = wgpuDeviceCreateBindGroup(device_, &descriptor);
  if (auto status = end_of(scope); !status || !group) {
    if (group) wgpuBindGroupRelease(group);
    if (status) return internal_error("a bind group for '", label, "' could not be created");
    return Failure(std::move(status.error()).within(str("binding ", label)));
  }
  return reinterpret_cast<Id>(group);
}

void NativeDevice::destroy_bind_group(Id id) { wgpuBindGroupRelease(bind_group_of(id)); }

Status NativeDevice::do_write(Id buffer, u64 offset, Bytes bytes) {
  wgpuQueueWriteBuffer(queue_, buffer_of(buffer), offset, bytes.data(), bytes.size());
  return {};
}

void NativeDevice::encode_dispatches(WGPUCommandEncoder encoder, const Submission& submission) {
  const bool profiling = submission.durations != nullptr;
  WGPUComputePassEncoder pass = nullptr;
  Id current = 0;
  u32 index = 0;
  for (const Dispatch& dispatch : submission.dispatches) {
    if (!pass || profiling) {
      WGPUComputePassDescriptor descriptor = WGPU_COMPUTE_PASS_DESCRIPTOR_INIT;
      WGPUPassTimestampWrites stamps{};
      stamps.querySet = timestamps_.set;
      stamps.beginningOfPassWriteIndex = 2 * index;
      stamps.endOfPassWriteIndex = 2 * index + 1;
      if (profiling) descriptor.timestampWrites = &stamps;
      pass = wgpuCommandEncoderBeginComputePass(encoder, &descriptor);
      current = 0;
    }
    if (dispatch.pipeline != current) {
      wgpuComputePassEncoderSetPipeline(pass, at<PipelineObject>(dispatch.pipeline)->pipeline);
      current = dispatch.pipeline;
    }
    wgpuComputePassEncoderSetBindGroup(pass, 0, bind_group_of(dispatch.bind_group), 1, &dispatch.params_offset);
    wgpuComputePassEncoderDispatchWorkgroups(pass, dispatch.x, dispatch.y, dispatch.z);
    ++index;
    if (profiling) {
      wgpuComputePassEncoderEnd(pass);
      wgpuComputePassEncoderRelease(pass);
      pass = nullptr;
    }
  }
  if (pass) {
    wgpuComputePassEncoderEnd(pass);
    wgpuComputePassEncoderRelease(pass);
  }
}

Status NativeDevice::do_submit(const Submission& submission) {
  TRY(const Id commands, make_commands(submission));
  const Status status = submit_commands(commands);
  destroy_commands(commands);
  return status;
}

Result<Id> NativeDevice::make_commands(const Submission& submission) {
  const std::scoped_lock lock(mutex_);
  TRY_DO(health());
  if (submission.durations) TRY_DO(prepare_timestamps(submission));
  ErrorScope scope(device_);
  WGPUCommandEncoder encoder = wgpuDeviceCreateCommandEncoder(device_, nullptr);
  for (const Fill& fill : submission.fills)
    if (fill.size > 0) wgpuCommandEncoderClearBuffer(encoder, buffer_of(fill.buffer), fill.offset, fill.size);
  const auto copy = [&](const Copy& c) {
    if (c.size > 0)
      wgpuCommandEncoderCopyBufferToBuffer(encoder, buffer_of(c.source), c.source_offset, buffer_of(c.target),
                                           c.target_offset, c.size);
  };
  for (const Copy& c : submission.copies_before) copy(c);
  encode_dispatches(encoder, submission);
  for (const Copy& c : submission.copies_after) copy(c);
  if (submission.durations && timestamps_.used > 0) {
    wgpuCommandEncoderResolveQuerySet(encoder, timestamps_.set, 0, timestamps_.used, timestamps_.resolved, 0);
    wgpuCommandEncoderCopyBufferToBuffer(encoder, timestamps_.resolved, 0, timestamps_.readable, 0,
                                         timestamps_.used * sizeof(u64));
  }
  WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, nullptr);
  wgpuCommandEncoderRelease(encoder);
  if (auto status = end_of(scope); !status || !commands) {
    if (commands) release_commands(commands);
    if (status) return internal_error("commands could not be recorded");
    return Failure(std::move(status.error()));
  }
  return reinterpret_cast<Id>(commands);
}

Status NativeDevice::submit_commands(Id commands) {
  const std::scoped_lock lock(mutex_);
  // A submit on a lost device ends the process, so look first.
  TRY_DO(health());
  const WGPUCommandBuffer buffer = commands_of(commands);
  wgpuQueueSubmit(queue_, 1, &buffer);
  return {};
}

void NativeDevice::destroy_commands(Id id) { release_commands(commands_of(id)); }

void NativeDevice::PendingRead::finish(WGPUMapAsyncStatus result, std::string why) {
  const std::scoped_lock lock(mutex);
  status = result;
  message = std::move(why);
  done = true;
  changed.notify_all();
}

bool NativeDevice::PendingRead::is_done() {
  const std::scoped_lock lock(mutex);
  return done;
}

void NativeDevice::forget_orphans() {
  std::erase_if(orphans_, [](const auto& read) { return read->is_done(); });
}

Status NativeDevice::begin_read(Id buffer, MutableBytes into) {
  const std::scoped_lock lock(mutex_);
  TRY_DO(health());
  auto& slot = reads_[buffer];
  if (!slot) slot = std::make_unique<PendingRead>();
  slot->into = into;
  start(*slot, buffer_of(buffer), into.size());
  return {};
}

void NativeDevice::start(PendingRead& read, WGPUBuffer buffer, u64 size) {
  {
    const std::scoped_lock lock(read.mutex);
    read.done = false;
  }
  WGPUBufferMapCallbackInfo info{.mode = WGPUCallbackMode_AllowSpontaneous};
  info.userdata1 = &read;
  info.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* user, void*) {
    static_cast<PendingRead*>(user)->finish(status, status == WGPUMapAsyncStatus_Success ? "" : text(message));
  };
  wgpuBufferMapAsync(buffer, WGPUMapMode_Read, 0, size, info);
}

// After the GPU was idle: until the thread that took the callback has run it.
Status NativeDevice::wait_for(PendingRead& read) {
  constexpr auto patience = std::chrono::seconds(10);
  const auto start = std::chrono::steady_clock::now();
  for (std::unique_lock lock(read.mutex); !read.done;) {
    if (read.changed.wait_for(lock, std::chrono::milliseconds(1), [&] { return read.done; })) break;
    lock.unlock();
    TRY_DO(health());
    if (std::chrono::steady_clock::now() - start > patience)
      return internal_error("the GPU did not finish a read within ", patience.count(), " s after its work was done");
    wait_for_gpu();
    lock.lock();
  }
  return {};
}

Result<bool> NativeDevice::poll_read(Id buffer, bool wait) {
  if (wait)
    wait_for_gpu();
  else
    wgpuInstanceProcessEvents(instance_);
  PendingRead* read = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = reads_.find(buffer);
    if (found == reads_.end()) return internal_error("a buffer is polled that nobody reads");
    read = found->second.get();
  }
  TRY_DO(health());
  if (wait) TRY_DO(wait_for(*read));
  if (!read->is_done()) return false;
  if (read->status != WGPUMapAsyncStatus_Success)
    return fail(ErrorKind::device_lost, "reading from the GPU failed: ", read->message);
  const void* data = wgpuBufferGetConstMappedRange(buffer_of(buffer), 0, read->into.size());
  if (!data) return fail(ErrorKind::device_lost, "the GPU's answer could not be mapped");
  std::memcpy(read->into.data(), data, read->into.size());
  wgpuBufferUnmap(buffer_of(buffer));
  const std::scoped_lock lock(mutex_);
  TRY_DO(read_timestamps());
  return true;
}

void NativeDevice::wait_for_gpu() {
  const auto start = std::chrono::steady_clock::now();
  poll_until_idle(device_);
  counters().waited_nanoseconds += u64(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
}

Status NativeDevice::wait_idle() {
  TRY_DO(health());
  wait_for_gpu();
  return health();
}

}  // namespace native
}  // namespace pteron::gpu
