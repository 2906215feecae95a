// SPDX-License-Identifier: BSD-3-Clause
#include "support/kernel_keeper.h"

namespace pteron::test {
namespace {

constexpr size_t most_kernels = 1000;

class Done final : public gpu::Device::PipelineBatch {
 public:
  explicit Done(std::vector<gpu::Pipeline> pipelines) : pipelines_(std::move(pipelines)) {}
  Result<u32> poll(bool) override { return u32(pipelines_.size()); }
  Result<std::vector<gpu::Pipeline>> take() override { return std::move(pipelines_); }

 private:
  std::vector<gpu::Pipeline> pipelines_;
};

}  // namespace

Result<std::unique_ptr<gpu::Device::PipelineBatch>> KernelKeeper::compile(std::vector<gpu::PipelineSpec> specs) {
  std::vector<gpu::Pipeline> out;
  for (const gpu::PipelineSpec& spec : specs) {
    TRY(auto pipeline, compile_now(spec));
    out.push_back(std::move(pipeline));
  }
  return std::make_unique<Done>(std::move(out));
}

Result<gpu::Pipeline> KernelKeeper::compile_now(const gpu::PipelineSpec& spec) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = by_source_.find(spec.source); found != by_source_.end()) {
    kernels_.splice(kernels_.begin(), kernels_, found->second);
    ++found->second->users;
    return adopt_pipeline(found->second->id);
  }
  TRY(auto pipeline, ForwardingDevice::compile_now(spec));
  kernels_.push_front({spec.source, pipeline.id(), 1});
  by_source_.emplace(kernels_.front().source, kernels_.begin());
  by_id_.emplace(pipeline.id(), kernels_.begin());
  return pipeline;
}

void KernelKeeper::destroy_pipeline(gpu::Id id) {
  const std::scoped_lock lock(mutex_);
  --by_id_.at(id)->users;
  for (auto at = kernels_.end(); kernels_.size() > most_kernels && at != kernels_.begin();) {
    if ((--at)->users > 0) continue;
    by_source_.erase(at->source);
    by_id_.erase(at->id);
    ForwardingDevice::destroy_pipeline(at->id);
    at = kernels_.erase(at);
  }
}

}  // namespace pteron::test
