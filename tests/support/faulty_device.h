// SPDX-License-Identifier: BSD-3-Clause
// A device in front of another one whose n-th call fails.
#pragma once

#include "support/forwarding_device.h"

namespace pteron::test {

class FaultyDevice final : public ForwardingDevice {
 public:
  enum class How {
    refused,        // this call only, for no reason that the caller could do something about
    out_of_memory,  // this call only
    lost,           // this call and all after it
  };
  explicit FaultyDevice(std::shared_ptr<gpu::Device> inner) : ForwardingDevice(std::move(inner)) {}

  // The n-th call from now on, starting with 1.
  void fail_at(u64 call, How how) { at_ = calls_ + call, how_ = how, failed_ = nullptr; }
  u64 calls() const { return calls_; }
  const char* failed() const { return failed_; }  // the call; nothing: none yet
  // What makes the device behind it as lost as it says.
  void when_lost(std::function<void()> then) { when_lost_ = std::move(then); }

  Result<std::unique_ptr<PipelineBatch>> compile(std::vector<gpu::PipelineSpec> specs) override;
  Result<gpu::Pipeline> compile_now(const gpu::PipelineSpec& spec) override;
  Status begin_read(gpu::Id buffer, MutableBytes into) override;
  Result<bool> poll_read(gpu::Id buffer, bool wait) override;
  Status wait_idle() override;

 protected:
  Result<gpu::Id> make_buffer(u64 size, gpu::BufferUse use, std::string_view label) override;
  Result<gpu::Id> make_bind_group(gpu::Id pipeline, std::span<const gpu::BindingRange> bindings,
                                  std::string_view label) override;
  Status do_write(gpu::Id buffer, u64 offset, Bytes bytes) override;
  Status do_submit(const gpu::Submission& submission) override;
  Result<gpu::Id> make_commands(const gpu::Submission& submission) override;
  Status submit_commands(gpu::Id commands) override;
  Status check() override;

 private:
  class Batch;
  Status pass(const char* call);

  u64 at_ = 0;
  How how_ = How::refused;
  u64 calls_ = 0;
  const char* failed_ = nullptr;
  std::function<void()> when_lost_;
};

}  // namespace pteron::test
