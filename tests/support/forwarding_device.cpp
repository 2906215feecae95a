// SPDX-License-Identifier: BSD-3-Clause
#include "support/forwarding_device.h"

#include <algorithm>

namespace pteron::test {

class ForwardingDevice::Batch final : public PipelineBatch {
 public:
  Batch(std::shared_ptr<ForwardingDevice> device, std::unique_ptr<PipelineBatch> inner)
      : device_(std::move(device)), inner_(std::move(inner)) {}

  Result<u32> poll(bool wait) override { return inner_->poll(wait); }
  Result<std::vector<gpu::Pipeline>> take() override {
    TRY(auto pipelines, inner_->take());
    for (gpu::Pipeline& pipeline : pipelines)
      pipeline = device_->adopt_pipeline(device_->keep(device_->pipelines_, std::move(pipeline)));
    return pipelines;
  }

 private:
  std::shared_ptr<ForwardingDevice> device_;
  std::unique_ptr<PipelineBatch> inner_;
};

ForwardingDevice::ForwardingDevice(std::shared_ptr<gpu::Device> inner) : inner_(std::move(inner)) {
  info_ = inner_->info();
}

Result<std::unique_ptr<gpu::Device::PipelineBatch>> ForwardingDevice::compile(std::vector<gpu::PipelineSpec> specs) {
  TRY(auto batch, inner_->compile(std::move(specs)));
  return std::make_unique<Batch>(std::static_pointer_cast<ForwardingDevice>(shared_from_this()), std::move(batch));
}

Result<gpu::Pipeline> ForwardingDevice::compile_now(const gpu::PipelineSpec& spec) {
  TRY(auto pipeline, inner_->compile_now(spec));
  return adopt_pipeline(keep(pipelines_, std::move(pipeline)));
}

Result<gpu::Id> ForwardingDevice::make_buffer(u64 size, gpu::BufferUse use, std::string_view label) {
  TRY(auto buffer, inner_->create_buffer(size, use, label));
  return keep(buffers_, std::move(buffer));
}

Result<gpu::Id> ForwardingDevice::make_bind_group(gpu::Id pipeline, std::span<const gpu::BindingRange> bindings,
                                                  std::string_view label) {
  TRY(auto group, inner_->create_bind_group(pipeline, bindings, label));
  return keep(bind_groups_, std::move(group));
}

Result<gpu::Id> ForwardingDevice::make_commands(const gpu::Submission& submission) {
  TRY(auto commands, inner_->record(submission));
  const gpu::Id id = commands.handle.id();
  const std::scoped_lock lock(mutex_);
  if (id != 0) commands_.push_back(std::move(commands));
  return id;
}

gpu::Commands ForwardingDevice::take_commands(gpu::Id id) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(commands_, id, [](const gpu::Commands& c) { return c.handle.id(); });
  if (found == commands_.end()) return {};
  gpu::Commands out = std::move(*found);
  commands_.erase(found);
  return out;
}

Status ForwardingDevice::submit_commands(gpu::Id id) {
  gpu::Commands commands = take_commands(id);
  if (!commands) return internal_error("commands are submitted that were not recorded, or twice");
  return inner_->submit(std::move(commands));
}

u64 ForwardingDevice::buffer_size(gpu::Id id) const {
  const std::scoped_lock lock(mutex_);
  return buffers_.at(id).size();
}

}  // namespace pteron::test
