// SPDX-License-Identifier: BSD-3-Clause
#include "graph/flight.h"

#include "graph/work.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pteron::graph {

// Software on a busy processor needs that many times what is modelled for a slow GPU.
constexpr u32 slowest = 100;

Flight::Flight(std::shared_ptr<const LoadedGraph> loaded, WorkingMemory& memory)
    : loaded_(std::move(loaded)),
      c_(*loaded_->compiled),
      device_(loaded_->context->device()),
      memory_(memory),
      is_done_(c_.ops.size(), 0),
      host_copy_(c_.memory.staging),
      output_at_(c_.graph.outputs.size(), UINT64_MAX),
      fault_limits_(c_.faults.size(), 0) {
  size_t dispatches = 0;
  for (const OpPlan& op : c_.ops) dispatches += op.slots;
  dispatches_.reserve(dispatches);
  work_.reserve(dispatches);
  copies_.reserve(c_.graph.outputs.size() + 1);
  part_ends_.reserve(dispatches + 1);
  ahead_.commands.reserve(dispatches + 1);
}

bool Flight::is_listed(const Planner& planner, Lanes lanes) const {
  if (!listing_.is_valid || listing_.version != planner.version() || listing_.bound.size() != lanes.size())
    return false;
  for (u32 lane = 0; lane < lanes.size(); ++lane)
    if (listing_.bound[lane] != memory_.bound_id(*lanes[lane], lane)) return false;
  return true;
}

Status Flight::list_dispatches(const Planner& planner, Lanes lanes, const OutputSet& wanted) {
  listing_.is_valid = false;
  dispatches_.clear();
  work_.clear();
  ahead_.commands.clear();
  ahead_.copies.clear();
  for (u32 op = 0; op < c_.ops.size(); ++op) {
    if (is_done_[op] || (!c_.ops[op].has_effects && !c_.ops[op].needed_by.intersects(wanted))) continue;
    for (const PlannedDispatch& planned : planner.dispatches(op)) {
      TRY(const gpu::Dispatch dispatch, memory_.resolve(planned, lanes));
      dispatches_.push_back(dispatch);
      work_.push_back({op, planned.variant});
    }
  }
  divide(planner);
  listing_.version = planner.version();
  listing_.bound.clear();
  for (u32 lane = 0; lane < lanes.size(); ++lane) listing_.bound.push_back(memory_.bound_id(*lanes[lane], lane));
  listing_.wanted = wanted;
  listing_.is_valid = true;
  return {};
}

void Flight::divide(const Planner& planner) {
  part_ends_.clear();
  const f64 longest = c_.submit_microseconds * 1e-6;
  modelled_ = 0;
  f64 seconds = 0;
  u32 number = 0;  // within its op
  for (u32 i = 0; i < work_.size(); ++i) {
    number = i > 0 && work_[i].op == work_[i - 1].op ? number + 1 : 0;
    const f64 more = modelled_seconds(planner, work_[i].op, number);
    modelled_ += more;
    if (longest > 0 && i > 0 && seconds + more > longest) {
      part_ends_.push_back(i);
      seconds = 0;
    }
    seconds += more;
  }
  part_ends_.push_back(u32(work_.size()));
}

// What the first part begins with is not in it.
gpu::Submission Flight::part(size_t index) const {
  const u32 begin = index == 0 ? 0 : part_ends_[index - 1];
  gpu::Submission out;
  out.dispatches = std::span(dispatches_).subspan(begin, part_ends_[index] - begin);
  if (index + 1 == part_ends_.size()) out.copies_after = copies_;
  return out;
}

void Flight::list_copies(const Planner& planner, Lanes lanes, const OutputSet& wanted) {
  const gpu::Buffer &faults = memory_.faults(), &staging = memory_.staging();
  copies_.clear();
  u64 at = faults.size();
  if (faults) copies_.push_back({faults.id(), 0, staging.id(), 0, faults.size()});
  for (u32 i = 0; i < c_.graph.outputs.size(); ++i) {
    output_at_[i] = UINT64_MAX;
    const ValueId id = c_.graph.outputs[i];
    if (!c_.graph.tensor(id) || !wanted.contains(i)) continue;
    const u64 bytes = (planner.live().shape[id].numel() * size_of(c_.facts.dtype[id]) + 3) / 4 * 4;
    output_at_[i] = at;
    if (bytes > 0) {
      const State* state = lanes[i / (c_.graph.outputs.size() / lanes.size())];
      const WorkingMemory::Range source = memory_.locate(id, state);
      copies_.push_back({source.buffer, source.offset, staging.id(), at, bytes});
    }
    at += (bytes + 15) / 16 * 16;
  }
  read_bytes_ = at;
}

Status Flight::start(const Planner& planner, Lanes lanes, const OutputSet& wanted) {
  if (!is_listed(planner, lanes) || listing_.wanted != wanted) TRY_DO(list_dispatches(planner, lanes, wanted));
  list_copies(planner, lanes, wanted);
  const bool repeats = ahead_.copies == copies_;
  if (repeats && !ahead_.commands.empty() && !(memory_.faults() && faults_dirty_) && !profiling_) {
    Status submitted;
    for (gpu::Commands& commands : ahead_.commands)
      if (submitted) submitted = device_.submit(std::move(commands));
    ahead_.commands.clear();
    TRY_DO(std::move(submitted));
  } else {
    TRY_DO(submit());
  }
  faults_dirty_ = false;
  std::ranges::copy(planner.fault_limits(), fault_limits_.begin());
  if (read_bytes_ > 0) TRY_DO(device_.begin_read(memory_.staging().id(), MutableBytes(host_copy_).first(read_bytes_)));
  phase_ = repeats ? Phase::repeated : Phase::novel;
  const std::chrono::duration<f64> allowed(c_.answer_seconds + slowest * modelled_);
  deadline_ = std::chrono::steady_clock::now() + std::chrono::round<std::chrono::steady_clock::duration>(allowed);
  return {};
}

Status Flight::submit() {
  const gpu::Buffer& faults = memory_.faults();
  const gpu::Fill clear{faults.id(), 0, faults.size()};
  const size_t parts = profiling_ ? 1 : part_ends_.size();  // durations are those of one submit
  for (size_t i = 0; i < parts; ++i) {
    gpu::Submission submission = part(i);
    if (i == 0 && faults && faults_dirty_) submission.fills = std::span(&clear, 1);
    if (profiling_) {
      submission.dispatches = dispatches_;
      submission.copies_after = copies_;
      submission.durations = &durations_;
    }
    TRY_DO(device_.submit(submission));
  }
  mark_done();
  return {};
}

// Ops whose result never changes are left out from now on.
void Flight::mark_done() {
  for (const Work& work : work_)
    if (c_.ops[work.op].is_constant && !std::exchange(is_done_[work.op], u8(1))) listing_.is_valid = false;
}

void Flight::prepare(const Planner& planner, Lanes lanes) {
  const Phase was = std::exchange(phase_, Phase::prepared);
  if (was == Phase::novel) {
    ahead_.commands.clear();
    ahead_.copies = copies_;
  } else if (is_listed(planner, lanes) && ahead_.commands.empty()) {
    for (size_t i = 0; i < part_ends_.size(); ++i) {
      auto commands = device_.record(part(i));
      if (!commands || !*commands) return ahead_.commands.clear();
      ahead_.commands.push_back(*std::move(commands));
    }
  }
}

// A GPU that says nothing for so long never will.
Status Flight::expect_answer() {
  if (c_.answer_seconds == 0 || std::chrono::steady_clock::now() < deadline_) return {};
  device_.give_up({ErrorKind::device_lost,
                   str("the GPU has not answered for ", c_.answer_seconds, " s and ", slowest,
                       " times what the step should take, so it is taken for lost; answer_seconds is the setting"),
                   {}});
  return device_.health();
}

Result<bool> Flight::finish(bool wait) {
  while (read_bytes_ > 0) {
    TRY(const bool done, device_.poll_read(memory_.staging().id(), wait));
    if (done) break;
    TRY_DO(expect_answer());
    if (!wait) return false;
  }
  phase_ = Phase::idle;
  TRY_DO(device_.health());
  for (size_t i = 0; i < c_.faults.size(); ++i)
    if (has_fault(i)) clear_fault(i);
  return true;
}

// An op whose result never changes complains at every step, so it runs again.
void Flight::clear_fault(size_t slot) {
  faults_dirty_ = true;
  if (std::exchange(is_done_[c_.faults[slot].op], u8(0))) listing_.is_valid = false;
}

bool Flight::has_fault(size_t slot) const {
  u32 word;
  std::memcpy(&word, host_copy_.data() + slot * 8, 4);
  return word != 0;
}

Status Flight::fault(u32 lane) const {
  for (size_t i = 0; i < c_.faults.size(); ++i) {
    const FaultSlot& fault = c_.faults[i];
    const Op& op = c_.graph.ops[fault.op];
    if (!has_fault(i) || op.lane.value_or(lane) != lane) continue;
    i32 found;
    std::memcpy(&found, host_copy_.data() + i * 8 + 4, 4);
    return within(Status(invalid(fault.what, " ", found, " is out of range; there are ", fault_limits_[i])),
                  describe(op));
  }
  return {};
}

Result<Bytes> Flight::output(u32 index, u64 bytes) const {
  if (phase_ != Phase::idle) return invalid("outputs can't be read while a step is under way; call finish first");
  if (index >= output_at_.size() || output_at_[index] == UINT64_MAX)
    return invalid("output ", index, " was not asked for");
  return Bytes(host_copy_).subspan(output_at_[index], bytes);
}

}  // namespace pteron::graph
