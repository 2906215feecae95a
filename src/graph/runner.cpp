// SPDX-License-Identifier: BSD-3-Clause
#include "graph/runner.h"

#include "graph/convert.h"
#include "graph/guards.h"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace pteron::graph {
namespace {

u64 new_step() {
  static std::atomic<u64> last{0};
  return ++last;
}

}  // namespace

Runner::Runner(std::shared_ptr<const LoadedGraph> loaded, std::unique_ptr<WorkingMemory> memory)
    : loaded_(std::move(loaded)),
      memory_(std::move(memory)),
      planner_(*loaded_->compiled, memory_->arena()),
      flight_(loaded_, *memory_) {}

Result<std::unique_ptr<Runner>> Runner::create(std::shared_ptr<const LoadedGraph> loaded) {
  TRY(auto memory, WorkingMemory::create(loaded));
  TRY_DO(paint_guards(*loaded, *memory));
  return std::unique_ptr<Runner>(new Runner(std::move(loaded), std::move(memory)));
}

Status Runner::begin(Lanes lanes, std::span<const HostInput> inputs, const OutputSet& wanted) {
  failed_lane_.reset();
  if (is_running()) return invalid("a step is already under way; call finish first");
  if (lanes.size() != compiled().graph.lanes)
    return internal_error(lanes.size(), " states are given for ", compiled().graph.lanes, " lanes");
  TRY_DO(loaded_->context->device().health());
  TRY_DO(check_inputs(compiled(), inputs));
  last_step_ = new_step();
  if (Status planned = planner_.plan(inputs); !planned) {
    failed_lane_ = planner_.failed_lane();
    return planned;
  }
  if (Status ready = make_ready(lanes, inputs); !ready) {
    planner_.roll_back();
    return ready;
  }
  planner_.accept();
  states_.assign(lanes.begin(), lanes.end());
  return flight_.start(planner_, lanes, wanted);
}

std::span<const u64> Runner::positions(u32 lane) const {
  const size_t count = planner_.positions().size() / compiled().graph.lanes;
  return planner_.positions().subspan(lane * count, count);
}

bool Runner::has_room(Lanes lanes) const {
  for (u32 lane = 0; lane < lanes.size(); ++lane)
    if (!lanes[lane]->has_room_for(positions(lane))) return false;
  return true;
}

Status Runner::make_ready(Lanes lanes, std::span<const HostInput> inputs) {
  for (u32 lane = 0; lane < lanes.size(); ++lane) {
    State& state = *lanes[lane];
    if (!state.has_room_for(positions(lane)))
      if (Status grown = state.make_room_for(positions(lane)); !grown) return failed_lane_ = lane, grown;
    TRY_DO(memory_->bind(state, lane));
  }
  return memory_->upload(inputs);
}

// Recording and planning take the host some time, which is best spent while the GPU works.
void Runner::prepare_next() {
  if (flight_.phase() == Flight::Phase::prepared) return;
  const auto start = std::chrono::steady_clock::now();
  if (flight_.phase() == Flight::Phase::repeated && !flight_.profiling()) {
    planner_.foresee();
    if (planner_.has_foreseen() && !has_room(states_)) planner_.roll_back();
  }
  flight_.prepare(planner_, states_);
  const auto time = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start);
  loaded_->context->device().counters().prepared_nanoseconds += u64(time.count());
}

Result<bool> Runner::finish(bool wait) {
  if (!is_running()) return invalid("no step is under way; call begin first");
  prepare_next();
  TRY(const bool done, flight_.finish(wait));
  if (done) TRY_DO(check_guards(*loaded_, *memory_));
  if (done && states_.size() == 1) TRY_DO(fault(0));
  return done;
}

bool Runner::output_is_tensor(u32 index) const {
  return compiled().graph.tensor(compiled().graph.outputs[index]) != nullptr;
}

DType Runner::output_dtype(u32 index) const { return compiled().facts.dtype[compiled().graph.outputs[index]]; }

Result<i64> Runner::output_number(u32 index) const {
  const ValueId id = compiled().graph.outputs[index];
  if (const auto* fixed = std::get_if<i64>(&compiled().graph.values[id])) return *fixed;
  if (std::holds_alternative<SymInt>(compiled().graph.values[id])) {
    const i64 number = planner_.live().number[id];
    if (number < INT32_MIN || number > INT32_MAX) return unsupported("output ", index, " is a number with a fraction");
    return number;
  }
  return invalid("output ", index, " is a tensor, not a number");
}

Status Runner::read_output(u32 index, DType dtype, MutableBytes into) const {
  const u64 numel = output_shape(index).numel();
  const DType device = output_dtype(index);
  TRY(const Bytes from, flight_.output(index, numel * size_of(device)));
  if (into.size() != numel * size_of(dtype))
    return invalid("output ", index, " has shape ", output_shape(index), "; ", into.size(), " bytes are not ", numel,
                   " elements of ", dtype);
  return within(convert(from, device, into, dtype), "output ", index);
}

StepStats Runner::stats() const {
  return {.dispatches = u32(flight_.work().size()),
          .replanned = planner_.replanned(),
          .late_pipelines = memory_->late_pipelines(),
          .uploaded = memory_->uploaded(),
          .read_back = flight_.read_back()};
}

Result<std::shared_ptr<RunnerPool>> RunnerPool::create(std::shared_ptr<const LoadedGraph> loaded) {
  std::shared_ptr<RunnerPool> self(new RunnerPool(std::move(loaded)));
  TRY(auto first, self->add());
  self->free_.push_back(std::move(first));
  return self;
}

Result<std::unique_ptr<Runner>> RunnerPool::add() {
  TRY(auto runner, Runner::create(loaded_));
  const std::scoped_lock lock(mutex_);
  bytes_ += runner->bytes();
  return runner;
}

std::unique_ptr<Runner> RunnerPool::take(u64 last_step, bool or_any) {
  const std::scoped_lock lock(mutex_);
  auto found = std::ranges::find_if(free_, [&](const auto& runner) { return runner->last_step() == last_step; });
  if (found == free_.end() && or_any && !free_.empty()) found = free_.end() - 1;
  if (found == free_.end()) return nullptr;
  std::unique_ptr<Runner> out = std::move(*found);
  free_.erase(found);
  return out;
}

Result<RunnerPool::Lease> RunnerPool::borrow(u64 last_step) {
  auto runner = take(last_step, true);
  if (!runner) {
    TRY(runner, add());
  }
  return Lease(shared_from_this(), std::move(runner));
}

RunnerPool::Lease RunnerPool::borrow_after(u64 last_step) {
  auto runner = take(last_step, false);
  return runner ? Lease(shared_from_this(), std::move(runner)) : Lease();
}

u64 RunnerPool::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

RunnerPool::Lease& RunnerPool::Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  pool_ = std::move(other.pool_);
  runner_ = std::move(other.runner_);
  return *this;
}

void RunnerPool::Lease::give_back() {
  if (!runner_) return;
  std::unique_ptr<Runner> runner = std::move(runner_);
  const std::shared_ptr<RunnerPool> pool = std::move(pool_);
  const std::scoped_lock lock(pool->mutex_);
  if (runner->is_running())
    pool->bytes_ -= runner->bytes();
  else
    pool->free_.push_back(std::move(runner));
}

}  // namespace pteron::graph
