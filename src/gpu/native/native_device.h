// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "gpu/device.h"
#include "gpu/native/webgpu_tools.h"

#include <condition_variable>
#include <mutex>
#include <unordered_map>

namespace pteron::gpu::native {

class NativeDevice final : public Device {
 public:
  static Result<std::shared_ptr<Device>> open(WGPUInstance instance, WGPUAdapter adapter, DeviceInfo info);
  NativeDevice(WGPUInstance instance, DeviceInfo info);
  NativeDevice(const NativeDevice&) = delete;
  NativeDevice& operator=(const NativeDevice&) = delete;
  ~NativeDevice() override;

  Result<std::unique_ptr<PipelineBatch>> compile(std::vector<PipelineSpec> specs) override;
  Result<Pipeline> compile_now(const PipelineSpec& spec) override;
  Status begin_read(Id buffer, MutableBytes into) override;
  Result<bool> poll_read(Id buffer, bool wait) override;
  Status wait_idle() override;

  void destroy_underlying(bool seen);
  Objects objects() const { return count_objects(instance_); }

 protected:
  Result<Id> make_buffer(u64 size, BufferUse use, std::string_view label) override;
  Result<Id> make_bind_group(Id pipeline, std::span<const BindingRange> bindings, std::string_view label) override;
  Status do_write(Id buffer, u64 offset, Bytes bytes) override;
  Status do_submit(const Submission& submission) override;
  Result<Id> make_commands(const Submission& submission) override;
  Status submit_commands(Id commands) override;
  void destroy_buffer(Id id) override;
  void destroy_pipeline(Id id) override;
  void destroy_bind_group(Id id) override;
  void destroy_commands(Id id) override;
  u64 buffer_size(Id id) const override;

 private:
  // A pipeline keeps the layout that its bind groups need.
  struct PipelineObject {
    WGPUComputePipeline pipeline;
    WGPUBindGroupLayout layout;
  };
  // Whichever thread polls the library runs the callbacks of all, so a read may be finished by another thread than the
  // one that waits for it, a moment after that one's own poll.
  struct PendingRead {
    MutableBytes into;
    std::mutex mutex;  // of what follows
    std::condition_variable changed;
    bool done = false;
    WGPUMapAsyncStatus status = WGPUMapAsyncStatus_Success;
    std::string message;
    void finish(WGPUMapAsyncStatus result, std::string why);
    bool is_done();
  };
  // What went wrong within it; from a loss on, everything does.
  Status end_of(ErrorScope& scope);
  void wait_for_gpu();
  void start(PendingRead& read, WGPUBuffer buffer, u64 size);
  Status wait_for(PendingRead& read);
  void forget_orphans();

  // Profiling: two timestamps per dispatch, resolved and copied to where the host can read them.
  struct Timestamps {
    u32 capacity = 0;
    u32 used = 0;
    WGPUQuerySet set = nullptr;
    WGPUBuffer resolved = nullptr;
    WGPUBuffer readable = nullptr;
    std::vector<u64>* into = nullptr;
  };

  void encode_dispatches(WGPUCommandEncoder encoder, const Submission& submission);
  Status prepare_timestamps(const Submission& submission);
  Status read_timestamps();
  void release_timestamps();

  WGPUInstance instance_ = nullptr;
  WGPUDevice device_ = nullptr;
  WGPUQueue queue_ = nullptr;

  std::mutex mutex_;  // submits, reads and timestamps
  std::unordered_map<Id, std::unique_ptr<PendingRead>> reads_;
  std::vector<std::unique_ptr<PendingRead>> orphans_;  // of buffers that went while a callback was due
  Timestamps timestamps_;
  PendingRead timestamp_read_;
};

}  // namespace pteron::gpu::native
