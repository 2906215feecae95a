// SPDX-License-Identifier: BSD-3-Clause
// A device in front of another one. Tests derive from it to see or to change what passes through the port.
#pragma once

#include "gpu/device.h"

#include <mutex>
#include <unordered_map>
#include <vector>

namespace pteron::test {

class ForwardingDevice : public gpu::Device {
 public:
  explicit ForwardingDevice(std::shared_ptr<gpu::Device> inner);

  Result<std::unique_ptr<PipelineBatch>> compile(std::vector<gpu::PipelineSpec> specs) override;
  Result<gpu::Pipeline> compile_now(const gpu::PipelineSpec& spec) override;
  Status begin_read(gpu::Id buffer, MutableBytes into) override { return inner_->begin_read(buffer, into); }
  Result<bool> poll_read(gpu::Id buffer, bool wait) override { return inner_->poll_read(buffer, wait); }
  Status wait_idle() override { return inner_->wait_idle(); }

 protected:
  Result<gpu::Id> make_buffer(u64 size, gpu::BufferUse use, std::string_view label) override;
  Result<gpu::Id> make_bind_group(gpu::Id pipeline, std::span<const gpu::BindingRange> bindings,
                                  std::string_view label) override;
  Status do_write(gpu::Id buffer, u64 offset, Bytes bytes) override { return inner_->write(buffer, offset, bytes); }
  Status do_submit(const gpu::Submission& submission) override { return inner_->submit(submission); }
  Result<gpu::Id> make_commands(const gpu::Submission& submission) override;
  Status submit_commands(gpu::Id commands) override;
  Status check() override { return inner_->health(); }
  void destroy_buffer(gpu::Id id) override { drop(buffers_, id); }
  void destroy_pipeline(gpu::Id id) override { drop(pipelines_, id); }
  void destroy_bind_group(gpu::Id id) override { drop(bind_groups_, id); }
  void destroy_commands(gpu::Id id) override { take_commands(id); }
  u64 buffer_size(gpu::Id id) const override;

 private:
  gpu::Commands take_commands(gpu::Id id);
  class Batch;
  template <class T>
  using Table = std::unordered_map<gpu::Id, T>;

  template <class T>
  gpu::Id keep(Table<T>& table, T object) {
    const gpu::Id id = object.id();
    const std::scoped_lock lock(mutex_);
    table.emplace(id, std::move(object));
    return id;
  }
  template <class T>
  void drop(Table<T>& table, gpu::Id id) {
    const std::scoped_lock lock(mutex_);
    table.erase(id);
  }

  std::shared_ptr<gpu::Device> inner_;
  mutable std::mutex mutex_;
  Table<gpu::Buffer> buffers_;
  Table<gpu::Pipeline> pipelines_;
  Table<gpu::BindGroup> bind_groups_;
  std::vector<gpu::Commands> commands_;  // until they are submitted; steps must not allocate for them
};

}  // namespace pteron::test
