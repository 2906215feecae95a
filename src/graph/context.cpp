// SPDX-License-Identifier: BSD-3-Clause
#include "graph/context.h"

namespace pteron::graph {

std::shared_ptr<gpu::Pipeline> Context::find(const std::string& source) {
  const std::scoped_lock lock(mutex_);
  const auto found = pipelines_.find(source);
  if (found == pipelines_.end()) return nullptr;
  auto pipeline = found->second.lock();
  if (!pipeline) pipelines_.erase(found);
  return pipeline;
}

std::shared_ptr<gpu::Pipeline> Context::add(const std::string& source, gpu::Pipeline pipeline) {
  auto shared = std::make_shared<gpu::Pipeline>(std::move(pipeline));
  const std::scoped_lock lock(mutex_);
  pipelines_[source] = shared;
  return shared;
}

}  // namespace pteron::graph
