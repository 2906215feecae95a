// SPDX-License-Identifier: BSD-3-Clause
// Compiles a batch of pipelines on all cores.
#include "gpu/native/native_device.h"

#include <condition_variable>
#include <thread>

namespace pteron::gpu::native {
namespace {

class Batch final : public Device::PipelineBatch {
 public:
  Batch(std::shared_ptr<NativeDevice> device, std::vector<PipelineSpec> specs)
      : device_(std::move(device)), specs_(std::move(specs)), results_(specs_.size()) {
    const size_t threads = std::min<size_t>(specs_.size(), std::max(1u, std::thread::hardware_concurrency()));
    for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }

  // Who is not interested any more waits only for what has been begun.
  ~Batch() override {
    const std::scoped_lock lock(mutex_);
    next_ = specs_.size();
  }

  Result<u32> poll(bool wait) override {
    std::unique_lock lock(mutex_);
    const u32 total = u32(specs_.size());
    if (wait) changed_.wait(lock, [&] { return done_ > reported_ || done_ == total; });
    reported_ = done_;
    return done_;
  }

  Result<std::vector<Pipeline>> take() override {
    threads_.clear();  // joins
    std::vector<Pipeline> out;
    for (auto& result : results_) {
      TRY(Pipeline pipeline, std::move(*result));
      out.push_back(std::move(pipeline));
    }
    return out;
  }

 private:
  void work() {
    while (true) {
      size_t index = 0;
      {
        const std::scoped_lock lock(mutex_);
        if (next_ == specs_.size()) return;
        index = next_++;
      }
      auto result = device_->compile_now(specs_[index]);
      const std::scoped_lock lock(mutex_);
      results_[index] = std::move(result);
      ++done_;
      changed_.notify_all();
    }
  }

  std::shared_ptr<NativeDevice> device_;
  std::vector<PipelineSpec> specs_;
  std::vector<std::optional<Result<Pipeline>>> results_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t next_ = 0;
  u32 done_ = 0, reported_ = 0;
  std::vector<std::jthread> threads_;  // last: they use all of the above
};

}  // namespace

Result<std::unique_ptr<Device::PipelineBatch>> NativeDevice::compile(std::vector<PipelineSpec> specs) {
  TRY_DO(health());
  return std::make_unique<Batch>(std::static_pointer_cast<NativeDevice>(shared_from_this()), std::move(specs));
}

}  // namespace pteron::gpu::native
