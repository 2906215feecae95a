// SPDX-License-Identifier: BSD-3-Clause
#include "support/stamping_device.h"

#include <cstring>

namespace pteron::test {

class StampingDevice::Batch final : public PipelineBatch {
 public:
  Batch(StampingDevice& device, std::vector<gpu::PipelineSpec> specs) : device_(device), specs_(std::move(specs)) {}
  Result<u32> poll(bool) override { return u32(specs_.size()); }
  Result<std::vector<gpu::Pipeline>> take() override {
    std::vector<gpu::Pipeline> out;
    for (const gpu::PipelineSpec& spec : specs_) {
      TRY(auto pipeline, device_.compile_now(spec));
      out.push_back(std::move(pipeline));
    }
    return out;
  }

 private:
  StampingDevice& device_;
  std::vector<gpu::PipelineSpec> specs_;
};

StampingDevice::StampingDevice(u64 memory) : memory_(memory) { info_.adapter.name = "stamping device"; }

Result<std::unique_ptr<gpu::Device::PipelineBatch>> StampingDevice::compile(std::vector<gpu::PipelineSpec> specs) {
  return std::make_unique<Batch>(*this, std::move(specs));
}

Result<gpu::Pipeline> StampingDevice::compile_now(const gpu::PipelineSpec& spec) {
  const std::scoped_lock lock(mutex_);
  pipelines_[++last_] = spec.bindings;
  return adopt_pipeline(last_);
}

Result<gpu::Id> StampingDevice::make_buffer(u64 size, gpu::BufferUse, std::string_view label) {
  if (size > memory_ || counters().buffer_bytes > memory_ - size)
    return fail(ErrorKind::out_of_memory, "the device has ", human_bytes(memory_));
  const std::scoped_lock lock(mutex_);
  buffers_[++last_] = {std::vector<std::byte>(size), label == "faults"};
  return last_;
}

Result<gpu::Id> StampingDevice::make_bind_group(gpu::Id pipeline, std::span<const gpu::BindingRange> bindings,
                                                std::string_view) {
  const std::scoped_lock lock(mutex_);
  auto& written = written_[++last_];
  for (size_t i = 0; i < bindings.size(); ++i)
    if (pipelines_.at(pipeline)[i] == gpu::BindingKind::read_write && !buffers_.at(bindings[i].buffer).holds_faults)
      written.push_back(bindings[i]);
  return last_;
}

Status StampingDevice::do_write(gpu::Id buffer, u64 offset, Bytes bytes) {
  const std::scoped_lock lock(mutex_);
  std::memcpy(buffers_.at(buffer).bytes.data() + offset, bytes.data(), bytes.size());
  return {};
}

void StampingDevice::copy(const gpu::Copy& copy) {
  std::memcpy(buffers_.at(copy.target).bytes.data() + copy.target_offset,
              buffers_.at(copy.source).bytes.data() + copy.source_offset, copy.size);
}

void StampingDevice::run(std::span<const gpu::Dispatch> dispatches) {
  ++submissions_;
  for (const gpu::Dispatch& dispatch : dispatches)
    for (const gpu::BindingRange& range : written_.at(dispatch.bind_group))
      for (u64 at = 0; at + 4 <= range.size; at += 4)
        std::memcpy(buffers_.at(range.buffer).bytes.data() + range.offset + at, &submissions_, 4);
}

Status StampingDevice::do_submit(const gpu::Submission& submission) {
  const std::scoped_lock lock(mutex_);
  for (const gpu::Fill& fill : submission.fills)
    std::memset(buffers_.at(fill.buffer).bytes.data() + fill.offset, 0, fill.size);
  for (const gpu::Copy& c : submission.copies_before) copy(c);
  run(submission.dispatches);
  for (const gpu::Copy& c : submission.copies_after) copy(c);
  return {};
}

Result<gpu::Id> StampingDevice::make_commands(const gpu::Submission& submission) {
  const std::scoped_lock lock(mutex_);
  recorded_[++last_] = {{submission.dispatches.begin(), submission.dispatches.end()},
                        {submission.copies_after.begin(), submission.copies_after.end()}};
  return last_;
}

Status StampingDevice::submit_commands(gpu::Id commands) {
  const std::scoped_lock lock(mutex_);
  const Recorded& recorded = recorded_.at(commands);
  run(recorded.dispatches);
  for (const gpu::Copy& c : recorded.copies) copy(c);
  return {};
}

Status StampingDevice::begin_read(gpu::Id buffer, MutableBytes into) {
  const std::scoped_lock lock(mutex_);
  if (reads_.contains(buffer)) return internal_error("a buffer is mapped that is mapped already");
  reads_[buffer] = {into, polls_};
  return {};
}

Result<bool> StampingDevice::poll_read(gpu::Id buffer, bool wait) {
  const std::scoped_lock lock(mutex_);
  const auto found = reads_.find(buffer);
  if (found == reads_.end()) return internal_error("a buffer is polled that nobody reads");
  if (never_) return false;
  if (!wait && found->second.polls > 0) return --found->second.polls, false;
  std::memcpy(found->second.into.data(), buffers_.at(buffer).bytes.data(), found->second.into.size());
  reads_.erase(found);
  return true;
}

void StampingDevice::destroy_buffer(gpu::Id id) {
  const std::scoped_lock lock(mutex_);
  reads_.erase(id);
  buffers_.erase(id);
}
void StampingDevice::destroy_pipeline(gpu::Id id) {
  const std::scoped_lock lock(mutex_);
  pipelines_.erase(id);
}
void StampingDevice::destroy_bind_group(gpu::Id id) {
  const std::scoped_lock lock(mutex_);
  written_.erase(id);
}
void StampingDevice::destroy_commands(gpu::Id id) {
  const std::scoped_lock lock(mutex_);
  recorded_.erase(id);
}

u64 StampingDevice::buffer_size(gpu::Id id) const {
  const std::scoped_lock lock(mutex_);
  return buffers_.at(id).bytes.size();
}

}  // namespace pteron::test
