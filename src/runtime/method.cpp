// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/method_impl.h"

#include <algorithm>

namespace pteron {

Method::Method(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Method::Method(Method&&) noexcept = default;
Method& Method::operator=(Method&&) noexcept = default;
Method::~Method() = default;

const MethodInfo& Method::info() const { return impl_->info; }

Result<std::span<const Tensor>> Method::execute(std::span<const TensorView> inputs) {
  TRY_DO(impl_->begin(inputs, OutputSet::all()));
  TRY(const bool done, impl_->finish(true));
  if (!done) return unsupported("this device can't wait for its results; use begin and finish");
  return outputs();
}
Status Method::begin(std::span<const TensorView> inputs, const OutputSet& wanted) {
  return impl_->begin(inputs, wanted);
}
Result<bool> Method::finish(bool wait) { return impl_->finish(wait); }
std::span<const Tensor> Method::outputs() const { return impl_->outputs; }

Status Method::reset() {
  TRY_DO(impl_->check_idle("state can't be reset"));
  for (auto& delegate : impl_->delegates) TRY_DO(delegate.state.reset());
  impl_->reset_values();
  return {};
}

Status Method::rewind(u32 position) {
  TRY_DO(impl_->check_idle("state can't be rewound"));
  for (auto& delegate : impl_->delegates) TRY_DO(delegate.state.rewind(position));
  return {};
}

Result<Method> Method::clone() {
  TRY(auto impl, impl_->clone());
  return Method(std::move(impl));
}

MethodStats Method::stats() const {
  MethodStats out;
  for (const auto& delegate : impl_->delegates) {
    const graph::StepStats& s = delegate.stats;
    out.dispatches += s.dispatches;
    out.replanned += s.replanned;
    out.late_pipelines += s.late_pipelines;
    out.uploaded_bytes += s.uploaded;
    out.read_back_bytes += s.read_back;
    out.gpu_bytes += delegate.state.bytes();
    out.working_bytes += delegate.runners->bytes();
  }
  return out;
}

std::vector<DispatchCost> Method::costs(u32 positions) const {
  std::vector<DispatchCost> out;
  for (const auto& delegate : impl_->delegates)
    if (const auto runner = delegate.runners->borrow_after(delegate.last_step))
      std::ranges::move(graph::costs_of(runner->compiled(), runner->planner(), positions), std::back_inserter(out));
  return out;
}

MemoryTraffic Method::traffic(u32 positions) const {
  MemoryTraffic out;
  for (const auto& delegate : impl_->delegates) {
    const auto runner = delegate.runners->borrow_after(delegate.last_step);
    if (!runner) continue;
    const MemoryTraffic part = graph::traffic_of(*runner, positions);
    out.weights += part.weights;
    out.state += part.state;
    out.activations += part.activations;
    out.needed += part.needed;
  }
  return out;
}

void Method::set_profiling(bool on) { impl_->profiling = on; }

std::vector<OpTiming> Method::profile() const {
  std::vector<OpTiming> out;
  for (const auto& delegate : impl_->delegates) out.insert(out.end(), delegate.profile.begin(), delegate.profile.end());
  return out;
}

std::vector<std::string> Method::kernels() const {
  std::vector<std::string> out;
  for (const auto& delegate : impl_->delegates) {
    const auto runner = delegate.runners->borrow_after(delegate.last_step);
    if (!runner) continue;
    for (const graph::Flight::Work& work : runner->flight().work()) {
      const std::string_view name = work.variant->kernel.source().name;
      if (std::ranges::find(out, name) == out.end()) out.emplace_back(name);
    }
  }
  return out;
}

}  // namespace pteron
