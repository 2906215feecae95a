// SPDX-License-Identifier: BSD-3-Clause
// The port on a page's WebGPU. Nothing here can wait: what takes time is started, and polled after the page has let the
// browser work. Errors of calls that answer nothing reach health() the same way.
#pragma once

#include "gpu/device.h"

namespace pteron::gpu::browser {

class BrowserDevice final : public Device {
 public:
  explicit BrowserDevice(DeviceInfo info) { info_ = std::move(info); }

  Result<std::unique_ptr<PipelineBatch>> compile(std::vector<PipelineSpec> specs) override;
  Result<Pipeline> compile_now(const PipelineSpec& spec) override;
  Status begin_read(Id buffer, MutableBytes into) override;
  Result<bool> poll_read(Id buffer, bool wait) override;
  Status wait_idle() override { return health(); }

 protected:
  Status check() override;
  Result<Id> make_buffer(u64 size, BufferUse use, std::string_view label) override;
  Result<Id> make_bind_group(Id pipeline, std::span<const BindingRange> bindings, std::string_view label) override;
  Status do_write(Id buffer, u64 offset, Bytes bytes) override;
  Status do_submit(const Submission& submission) override;
  void destroy_buffer(Id id) override;
  void destroy_pipeline(Id id) override;
  void destroy_bind_group(Id id) override;
  u64 buffer_size(Id id) const override;

 private:
  class Batch;
  struct Read {
    Id buffer;
    MutableBytes into;
    std::vector<u64>* durations;  // of the submission in front of it, if they are wanted
  };
  std::vector<Read> reads_;                // under way
  std::vector<u64>* durations_ = nullptr;  // of the last submission
};

}  // namespace pteron::gpu::browser
