// SPDX-License-Identifier: BSD-3-Clause
// What the host does for the next step while the GPU works on this one. Tokens are decoded one after the other: mostly
// the next step differs only in its position, which goes on as it went. So the next step is planned for that position
// and recorded. If other inputs come, the plans are taken back as after a failed step.
#include "graph/convert.h"
#include "graph/instance.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace pteron::graph {

Result<i64> Instance::host_element(ValueId tensor, u64 flat_index) {
  const auto source = std::ranges::find(c_.ops[op_].host_reads, tensor, &OpPlan::HostRead::value);
  if (source == c_.ops[op_].host_reads.end()) return internal_error("value ", tensor, " is read without a plan to");
  const u32 input_index = source->input;
  const auto known = std::ranges::find_if(
      host_reads_, [&](const HostRead& read) { return read.input == input_index && read.index == flat_index; });
  if (foreseeing_) {
    if (known == host_reads_.end()) return internal_error("an element is read that was not read before");
    known->is_guessed = true;
    return known->guess();
  }
  const HostInput& input = host_inputs_[input_index];
  if (is_float(input.dtype)) return invalid("an integer is read from input ", input_index, ", which is ", input.dtype);
  if (flat_index >= input.shape.numel())
    return invalid("element ", flat_index, " of input ", input_index, " is read, but it has ", input.shape.numel());
  const i64 value = element_as_integer(input.bytes, input.dtype, flat_index);
  if (known == host_reads_.end())
    host_reads_.push_back({.input = input_index, .index = flat_index, .value = value, .before = value});
  else
    known->value = value;
  return value;
}

// Whatever goes wrong here will show when the next step begins.
void Instance::prepare_next() {
  if (!std::exchange(unprepared_, false)) return;
  const auto start = std::chrono::steady_clock::now();
  if (!repeats_) {
    ahead_.commands = {};
    ahead_.copies = copies_;
    return;
  }
  foresee();
  if (listed_for_ && !ahead_.commands) {
    gpu::Submission submission;
    submission.dispatches = dispatches_;
    submission.copies_after = copies_;
    if (auto commands = device_.record(submission)) ahead_.commands = *std::move(commands);
  }
  const auto time = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start);
  device_.counters().prepared_nanoseconds += u64(time.count());
}

void Instance::foresee() {
  if (host_reads_.empty() || profiling_ || is_foreseen_) return;
  for (HostRead& read : host_reads_) read.is_guessed = false;
  journal_.clear();
  const u32 replanned = std::exchange(stats_.replanned, 0);
  foreseeing_ = true;
  const bool planned = plan_due().has_value();
  foreseeing_ = false;
  foreseen_plans_ = std::exchange(stats_.replanned, replanned);
  // Outputs of the step under way are still to be read.
  const auto is_output = [&](const Change& change) { return std::ranges::count(c_.graph.outputs, change.id) > 0; };
  if (planned && !caches_are_short() && std::ranges::none_of(journal_, is_output))
    is_foreseen_ = true;
  else
    roll_back();
}

bool Instance::is_as_foreseen(std::span<const HostInput> inputs) const {
  for (u32 i = 0; i < inputs.size(); ++i) {
    const ValueId id = c_.graph.inputs[i];
    if (inputs[i].number ? *inputs[i].number != live_.number[id] : inputs[i].shape != live_.shape[id]) return false;
  }
  return std::ranges::all_of(host_reads_, [&](const HostRead& read) {
    const HostInput& input = inputs[read.input];
    return !read.is_guessed ||
           (!is_float(input.dtype) && element_as_integer(input.bytes, input.dtype, read.index) == read.guess());
  });
}

bool Instance::take_foreseen(std::span<const HostInput> inputs) {
  if (!std::exchange(is_foreseen_, false)) return false;
  if (!is_as_foreseen(inputs)) return roll_back(), false;
  for (HostRead& read : host_reads_)
    if (read.is_guessed) read.before = std::exchange(read.value, read.guess());
  stats_.replanned = foreseen_plans_;
  return true;
}

}  // namespace pteron::graph
