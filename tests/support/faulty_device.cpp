// SPDX-License-Identifier: BSD-3-Clause
#include "support/faulty_device.h"

namespace pteron::test {

class FaultyDevice::Batch final : public PipelineBatch {
 public:
  Batch(std::shared_ptr<FaultyDevice> device, std::unique_ptr<PipelineBatch> inner)
      : device_(std::move(device)), inner_(std::move(inner)) {}
  Result<u32> poll(bool wait) override {
    TRY_DO(device_->pass("poll compilations"));
    return inner_->poll(wait);
  }
  Result<std::vector<gpu::Pipeline>> take() override {
    TRY_DO(device_->pass("take pipelines"));
    return inner_->take();
  }

 private:
  std::shared_ptr<FaultyDevice> device_;
  std::unique_ptr<PipelineBatch> inner_;
};

Status FaultyDevice::pass(const char* call) {
  ++calls_;
  if (at_ == 0 || calls_ < at_ || (calls_ > at_ && how_ != How::lost)) return {};
  if (!failed_ && how_ == How::lost && when_lost_) when_lost_();
  if (!failed_) failed_ = call;
  switch (how_) {
    case How::refused: return internal_error("the device was told to refuse: ", call);
    case How::out_of_memory: return fail(ErrorKind::out_of_memory, "the device was told to have no memory for: ", call);
    case How::lost: break;
  }
  return fail(ErrorKind::device_lost, "the device was told to be lost");
}

Status FaultyDevice::check() {
  if (failed_ && how_ == How::lost) return fail(ErrorKind::device_lost, "the device was told to be lost");
  return ForwardingDevice::check();
}

Result<std::unique_ptr<gpu::Device::PipelineBatch>> FaultyDevice::compile(std::vector<gpu::PipelineSpec> specs) {
  TRY_DO(pass("compile"));
  TRY(auto batch, ForwardingDevice::compile(std::move(specs)));
  return std::make_unique<Batch>(std::static_pointer_cast<FaultyDevice>(shared_from_this()), std::move(batch));
}

Result<gpu::Pipeline> FaultyDevice::compile_now(const gpu::PipelineSpec& spec) {
  TRY_DO(pass("compile now"));
  return ForwardingDevice::compile_now(spec);
}

Status FaultyDevice::begin_read(gpu::Id buffer, MutableBytes into) {
  TRY_DO(pass("map"));
  return ForwardingDevice::begin_read(buffer, into);
}

Result<bool> FaultyDevice::poll_read(gpu::Id buffer, bool wait) {
  TRY_DO(pass("read"));
  return ForwardingDevice::poll_read(buffer, wait);
}

Status FaultyDevice::wait_idle() {
  TRY_DO(pass("wait"));
  return ForwardingDevice::wait_idle();
}

Result<gpu::Id> FaultyDevice::make_buffer(u64 size, gpu::BufferUse use, std::string_view label) {
  TRY_DO(pass("create buffer"));
  return ForwardingDevice::make_buffer(size, use, label);
}

Result<gpu::Id> FaultyDevice::make_bind_group(gpu::Id pipeline, std::span<const gpu::BindingRange> bindings,
                                              std::string_view label) {
  TRY_DO(pass("create bind group"));
  return ForwardingDevice::make_bind_group(pipeline, bindings, label);
}

Status FaultyDevice::do_write(gpu::Id buffer, u64 offset, Bytes bytes) {
  TRY_DO(pass("write"));
  return ForwardingDevice::do_write(buffer, offset, bytes);
}

Status FaultyDevice::do_submit(const gpu::Submission& submission) {
  TRY_DO(pass("submit"));
  return ForwardingDevice::do_submit(submission);
}

Result<gpu::Id> FaultyDevice::make_commands(const gpu::Submission& submission) {
  TRY_DO(pass("record"));
  return ForwardingDevice::make_commands(submission);
}

Status FaultyDevice::submit_commands(gpu::Id commands) {
  TRY_DO(pass("submit what was recorded"));
  return ForwardingDevice::submit_commands(commands);
}

}  // namespace pteron::test
