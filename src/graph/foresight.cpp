// SPDX-License-Identifier: BSD-3-Clause
// What the planner expects of the next step while the GPU works on this one.
#include "graph/dtype_cast.h"
#include "graph/planner.h"

#include <algorithm>
#include <utility>

namespace pteron::graph {

Result<i64> Planner::host_element(ValueId tensor, u64 flat_index) {
  const auto source = std::ranges::find(c_.ops[op_].host_reads, tensor, &OpPlan::HostRead::value);
  if (source == c_.ops[op_].host_reads.end()) return internal_error("value ", tensor, " is read without a plan to");
  const u32 input_index = source->input;
  const auto known = std::ranges::find_if(
      host_reads_, [&](const HostRead& read) { return read.input == input_index && read.index == flat_index; });
  if (phase_ == Phase::guessing) {
    if (known == host_reads_.end()) return internal_error("an element is read that was not read before");
    known->is_guessed = true;
    return known->guess();
  }
  const HostInput& input = inputs_[input_index];
  if (is_float(input.dtype)) return invalid("an integer is read from input ", input_index, ", which is ", input.dtype);
  if (flat_index >= input.shape.numel())
    return invalid("element ", flat_index, " of input ", input_index, " is read, but it has ", input.shape.numel());
  if (flat_index >= input.bytes.size() / size_of(input.dtype))
    return invalid("element ", flat_index, " of input ", input_index, " is read, but its contents are not there");
  const i64 value = element_as_integer(input.bytes, input.dtype, flat_index);
  if (known == host_reads_.end())
    host_reads_.push_back({.input = input_index, .index = flat_index, .value = value, .before = value});
  else
    known->value = value;
  return value;
}

void Planner::foresee() {
  if (host_reads_.empty() || phase_ != Phase::settled) return;
  for (HostRead& read : host_reads_) read.is_guessed = false;
  journal_.clear();
  const u32 replanned = std::exchange(replanned_, 0);
  phase_ = Phase::guessing;
  const bool planned = plan_due().has_value();
  foreseen_plans_ = std::exchange(replanned_, replanned);
  // Outputs of the step under way are still to be read.
  const auto is_output = [&](const Change& change) { return std::ranges::count(c_.graph.outputs, change.id) > 0; };
  if (planned && std::ranges::none_of(journal_, is_output))
    phase_ = Phase::foreseen;
  else
    roll_back();
}

bool Planner::is_as_foreseen(std::span<const HostInput> inputs) const {
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

bool Planner::take_foreseen(std::span<const HostInput> inputs) {
  if (phase_ != Phase::foreseen) return false;
  if (!is_as_foreseen(inputs)) return roll_back(), false;
  phase_ = Phase::settled;
  for (HostRead& read : host_reads_)
    if (read.is_guessed) read.before = std::exchange(read.value, read.guess());
  replanned_ = foreseen_plans_;
  return true;
}

}  // namespace pteron::graph
