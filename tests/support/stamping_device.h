// SPDX-License-Identifier: BSD-3-Clause
// A device without a GPU: buffers are host memory, copies and fills are made, and each dispatch writes the number of
// its submission over all that it may write. So who reads an output learns which submission it is of.
#pragma once

#include "gpu/device.h"

#include <map>
#include <mutex>

namespace pteron::test {

class StampingDevice final : public gpu::Device {
 public:
  explicit StampingDevice(u64 memory = UINT64_MAX);  // in bytes

  u32 submissions() const { return submissions_; }
  // Reads that are asked for without waiting are there only when they are asked for the n-th time.
  void answer_late(u32 polls) { polls_ = polls; }
  // No read is ever there.
  void answer_never() { never_ = true; }

  Result<std::unique_ptr<PipelineBatch>> compile(std::vector<gpu::PipelineSpec> specs) override;
  Result<gpu::Pipeline> compile_now(const gpu::PipelineSpec& spec) override;
  Status begin_read(gpu::Id buffer, MutableBytes into) override;
  Result<bool> poll_read(gpu::Id buffer, bool wait) override;
  Status wait_idle() override { return {}; }

 protected:
  Result<gpu::Id> make_buffer(u64 size, gpu::BufferUse use, std::string_view label) override;
  Result<gpu::Id> make_bind_group(gpu::Id pipeline, std::span<const gpu::BindingRange> bindings,
                                  std::string_view label) override;
  Status do_write(gpu::Id buffer, u64 offset, Bytes bytes) override;
  Status do_submit(const gpu::Submission& submission) override;
  Result<gpu::Id> make_commands(const gpu::Submission& submission) override;
  Status submit_commands(gpu::Id commands) override;
  void destroy_buffer(gpu::Id id) override;
  void destroy_pipeline(gpu::Id id) override;
  void destroy_bind_group(gpu::Id id) override;
  void destroy_commands(gpu::Id id) override;
  u64 buffer_size(gpu::Id id) const override;

 private:
  class Batch;
  struct Memory {
    std::vector<std::byte> bytes;
    bool holds_faults = false;  // kernels that find nothing wrong leave it alone
  };
  struct Recorded {
    std::vector<gpu::Dispatch> dispatches;
    std::vector<gpu::Copy> copies;
  };
  struct Read {
    MutableBytes into;
    u32 polls = 0;
  };
  void copy(const gpu::Copy& copy);
  void run(std::span<const gpu::Dispatch> dispatches);

  const u64 memory_;
  mutable std::mutex mutex_;
  gpu::Id last_ = 0;
  u32 submissions_ = 0, polls_ = 0;
  bool never_ = false;
  std::map<gpu::Id, Memory> buffers_;
  std::map<gpu::Id, std::vector<gpu::BindingKind>> pipelines_;
  std::map<gpu::Id, std::vector<gpu::BindingRange>> written_;  // by bind group
  std::map<gpu::Id, Recorded> recorded_;
  std::map<gpu::Id, Read> reads_;
};

}  // namespace pteron::test
