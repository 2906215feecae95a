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
  explicit Context(std::shared_ptr<gpu::Device> device) : device_(std::move(device)) {}

  gpu::Device& device() const { return *device_; }
  const gpu::DeviceInfo& info() const { return device_->info(); }

  // A pipeline that is alive, or nothing.
  std::shared_ptr<gpu::Pipeline> find(const std::string& source);
  std::shared_ptr<gpu::Pipeline> add(const std::string& source, gpu::Pipeline pipeline);

 private:
  std::shared_ptr<gpu::Device> device_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<gpu::Pipeline>, std::less<>> pipelines_;  // by WGSL text
};

}  // namespace pteron::graph
