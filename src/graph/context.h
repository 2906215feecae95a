// SPDX-License-Identifier: BSD-3-Clause
// A device and what its programs share: compiled pipelines.
#pragma once

#include "graph/kernel.h"

#include <map>
#include <memory>
#include <mutex>

namespace pteron::graph {

class Context {
 public:
  explicit Context(std::shared_ptr<gpu::Device> device) : device_(std::move(device)), info_(device_->info()) {}
  // Plans as if the device were another: one of another kind, or one that can do less.
  Context(std::shared_ptr<gpu::Device> device, gpu::DeviceInfo info)
      : device_(std::move(device)), info_(std::move(info)) {}

  gpu::Device& device() const { return *device_; }
  const gpu::DeviceInfo& info() const { return info_; }

  // A pipeline that is alive, or nothing.
  std::shared_ptr<gpu::Pipeline> find(const std::string& source);
  std::shared_ptr<gpu::Pipeline> add(const std::string& source, gpu::Pipeline pipeline);

 private:
  std::shared_ptr<gpu::Device> device_;
  gpu::DeviceInfo info_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<gpu::Pipeline>, std::less<>> pipelines_;  // by WGSL text
};

}  // namespace pteron::graph
