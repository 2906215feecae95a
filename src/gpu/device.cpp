// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/device.h"

namespace pteron::gpu {

std::string_view name_of(AdapterType type) {
  switch (type) {
    case AdapterType::discrete: return "discrete GPU";
    case AdapterType::integrated: return "integrated GPU";
    case AdapterType::virtual_gpu: return "virtual GPU";
    case AdapterType::cpu: return "CPU (software)";
    case AdapterType::unknown: return "unknown";
  }
  return "unknown";
}

Status Device::given_up() {
  const std::scoped_lock lock(failure_mutex_);
  if (failure_) return Failure(*failure_);
  return {};
}

Status Device::health() {
  TRY_DO(given_up());
  return check();
}

void Device::give_up(Error why) {
  const std::scoped_lock lock(failure_mutex_);
  if (!failure_) failure_ = std::move(why);
}

Result<Buffer> Device::create_buffer(u64 size, BufferUse use, std::string_view label) {
  TRY_DO(given_up());
  size = size == 0 ? 4 : (size + 3) / 4 * 4;
  if (size > limits().max_buffer_bytes)
    return fail(ErrorKind::out_of_memory, "buffer '", label, "' needs ", human_bytes(size), ", but this device (",
                info_.adapter.name, ") allows at most ", human_bytes(limits().max_buffer_bytes), " in one buffer");
  ++counters_.creates;
  TRY(const Id id, make_buffer(size, use, label));
  ++counters_.buffers;
  const u64 now = counters_.buffer_bytes += size;
  u64 peak = counters_.peak_buffer_bytes;
  while (now > peak && !counters_.peak_buffer_bytes.compare_exchange_weak(peak, now)) {}
  return Buffer(Handle<BufferTag>(shared_from_this(), id), size);
}

Result<BindGroup> Device::create_bind_group(Id pipeline, std::span<const BindingRange> bindings,
                                            std::string_view label) {
  TRY_DO(given_up());
  ++counters_.creates;
  TRY(const Id id, make_bind_group(pipeline, bindings, label));
  ++counters_.bind_groups;
  return BindGroup(shared_from_this(), id);
}

Status Device::write(Id buffer, u64 offset, Bytes bytes) {
  if (bytes.empty()) return {};
  TRY_DO(given_up());
  if (offset % 4 != 0 || bytes.size() % 4 != 0)
    return internal_error("a GPU write of ", bytes.size(), " bytes at ", offset, " is not aligned to 4");
  ++counters_.writes;
  counters_.written_bytes += bytes.size();
  return do_write(buffer, offset, bytes);
}

Status Device::submit(const Submission& submission) {
  TRY_DO(given_up());
  ++counters_.submits;
  counters_.dispatches += submission.dispatches.size();
  return do_submit(submission);
}

Result<Commands> Device::record(const Submission& submission) {
  TRY_DO(given_up());
  TRY(const Id id, make_commands(submission));
  if (id == 0) return Commands{};
  return Commands{Handle<CommandsTag>(shared_from_this(), id), submission.dispatches.size()};
}

Status Device::submit(Commands commands) {
  TRY_DO(given_up());
  ++counters_.submits;
  counters_.dispatches += commands.dispatches;
  return submit_commands(commands.handle.id());
}

Pipeline Device::adopt_pipeline(Id id) {
  ++counters_.creates;
  ++counters_.pipelines;
  return Pipeline(shared_from_this(), id);
}

void Device::released(BufferTag, Id id) {
  --counters_.buffers;
  counters_.buffer_bytes -= buffer_size(id);
  destroy_buffer(id);
}
void Device::released(PipelineTag, Id id) {
  --counters_.pipelines;
  destroy_pipeline(id);
}
void Device::released(BindGroupTag, Id id) {
  --counters_.bind_groups;
  destroy_bind_group(id);
}
void Device::released(CommandsTag, Id id) { destroy_commands(id); }

}  // namespace pteron::gpu
