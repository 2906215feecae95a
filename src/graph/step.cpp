// SPDX-License-Identifier: BSD-3-Clause
// One step of an instance. Everything is checked and planned before anything is uploaded; a failure leaves live shapes,
// symbolic integers and state as they were.
#include "graph/convert.h"
#include "graph/instance.h"
#include "graph/op.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pteron::graph {

Status Instance::begin(std::span<const HostInput> inputs, u64 wanted) {
  if (in_flight_) return invalid("a step is already under way; call finish first");
  TRY_DO(device_.health());
  TRY_DO(check_inputs(inputs));
  TRY_DO(check_indices(inputs));
  TRY_DO(plan_all(inputs));
  stats_.uploaded = 0;
  TRY_DO(upload(inputs));
  std::fill(changed_.begin(), changed_.end(), u8(0));
  TRY_DO(flush_arena());
  return submit(wanted);
}

Status Instance::check_inputs(std::span<const HostInput> inputs) const {
  if (inputs.size() != c_.graph.inputs.size())
    return invalid("the program takes ", c_.graph.inputs.size(), " inputs, but ", inputs.size(), " were given");
  for (u32 i = 0; i < inputs.size(); ++i) {
    const ValueId id = c_.graph.inputs[i];
    const HostInput& input = inputs[i];
    const Tensor* tensor = c_.graph.tensor(id);
    if (!tensor) {
      if (!input.number) return invalid("input ", i, " should be a number, but a tensor was given");
      if (*input.number < INT32_MIN || *input.number > INT32_MAX)
        return invalid("input ", i, " is ", *input.number, ", which does not fit in 32 bits");
      continue;
    }
    if (input.number) return invalid("input ", i, " should be a tensor, but a number was given");
    if (!can_convert(input.dtype, c_.facts.dtype[id]))
      return invalid("input ", i, " should be ", tensor->dtype, ", but ", input.dtype, " was given");
    if (input.shape.rank() != tensor->max.rank())
      return invalid("input ", i, " should have rank ", tensor->max.rank(), ", but ", input.shape, " was given");
    for (u32 axis = 0; axis < input.shape.rank(); ++axis) {
      const u32 live = input.shape[axis], max = tensor->max[axis];
      if (live > max)
        return invalid("input ", i, " has ", live, " in axis ", axis, ", but the program allows at most ", max);
      if (live == 0 && max != 0)
        return invalid("input ", i, " has 0 in axis ", axis, "; at least 1 is needed (at most ", max, ")");
      if (live != max && !c_.facts.varies[id])
        return invalid("input ", i, " should have shape ", tensor->max, ", but ", input.shape, " was given");
    }
    const u64 bytes = input.shape.numel() * size_of(input.dtype);
    if (input.bytes.size() != bytes)
      return invalid("input ", i, " of shape ", input.shape, " ", input.dtype, " needs ", bytes, " bytes, but ",
                     input.bytes.size(), " were given");
    if (bytes > 0 && input.bytes.data() == nullptr) return invalid("input ", i, " has no data");
  }
  return {};
}

Status Instance::check_indices(std::span<const HostInput> inputs) const {
  for (const IndexCheck& check : c_.index_checks) {
    const HostInput& input = inputs[check.input];
    const u64 count = input.shape.numel();
    const i64 low = check.negative ? -i64(check.limit) : 0;
    for (u64 i = 0; i < count; ++i) {
      const i64 value = element_as_integer(input.bytes, input.dtype, i);
      if (value < low || value >= i64(check.limit))
        return within(Status(invalid(check.what, " ", value, " (element ", i, " of input ", check.input,
                                     ") is out of range; there are ", check.limit)),
                      describe(c_.graph.ops[check.op]));
    }
  }
  return {};
}

void Instance::change_shape(ValueId id, const Shape& shape) {
  if (live_.shape[id] == shape) return;
  journal_.push_back({id, live_.shape[id], live_.number[id]});
  live_.shape[id] = shape;
  changed_[id] = 1;
}

void Instance::change_number(ValueId id, i64 number) {
  if (live_.number[id] == number) return;
  journal_.push_back({id, live_.shape[id], live_.number[id]});
  live_.number[id] = number;
  changed_[id] = 1;
}

Status Instance::plan_all(std::span<const HostInput> inputs) {
  if (take_foreseen(inputs)) return {};
  for (HostRead& read : host_reads_) read.before = read.value;
  stats_.replanned = 0;
  journal_.clear();
  for (u32 i = 0; i < inputs.size(); ++i) {
    const ValueId id = c_.graph.inputs[i];
    if (inputs[i].number)
      change_number(id, *inputs[i].number);
    else
      change_shape(id, inputs[i].shape);
  }
  host_inputs_ = inputs;
  Status planned = plan_due();
  if (planned && caches_are_short()) {
    planned = grow_caches();
    for (op_ = 0; op_ < c_.ops.size() && planned; ++op_)
      if (records_[op_].stale) planned = plan_one(op_);
  }
  host_inputs_ = {};
  if (!planned) roll_back();
  return planned;
}

Status Instance::plan_due() {
  std::fill(wanted_positions_.begin(), wanted_positions_.end(), u64(0));
  for (op_ = 0; op_ < c_.ops.size(); ++op_) {
    const OpPlan& plan = c_.ops[op_];
    const bool due = records_[op_].stale || !plan.host_reads.empty() ||
                     std::any_of(plan.reads.begin(), plan.reads.end(), [&](ValueId id) { return changed_[id]; });
    if (due) TRY_DO(plan_one(op_));
  }
  return {};
}

Status Instance::plan_one(u32 op) {
  Record& record = records_[op];
  record.stale = true;  // until it is done
  const u32 before = std::exchange(record.used, 0);
  Plan plan(Plan::Mode::live, c_.facts, op, live_, *this);
  Status status = plan.run();
  if (record.used != before) listed_for_.reset();
  if (!status) return within(std::move(status), describe(c_.graph.ops[op]));
  record.stale = false;
  ++stats_.replanned;
  return {};
}

void Instance::roll_back() {
  for (size_t i = journal_.size(); i-- > 0;) {
    live_.shape[journal_[i].id] = journal_[i].shape;
    live_.number[journal_[i].id] = journal_[i].number;
  }
  // Plans that were made for the values of the failed step are made again.
  for (size_t op = 0; op < c_.ops.size(); ++op)
    for (ValueId id : c_.ops[op].reads)
      if (changed_[id]) records_[op].stale = true;
  std::fill(changed_.begin(), changed_.end(), u8(0));
}

Status Instance::read(ValueId) { return {}; }

Status Instance::resize(ValueId id, const Shape& shape, bool) {
  const Shape& max = c_.graph.tensor(id)->max;
  if (c_.graph.tensor(id)->constant && !(shape == max))
    return invalid("the result has shape ", shape, ", but it updates state of shape ", max, ", which can't change");
  if (!shape.fits_in(max)) return invalid("the result has shape ", shape, ", but the program allows at most ", max);
  change_shape(id, shape);
  return {};
}

Status Instance::set_number(ValueId id, i64 value, bool) {
  change_number(id, value);
  return {};
}

Status Instance::scratch(u32 number, u64 bytes) {
  const auto& sizes = c_.ops[op_].scratch;
  const u64 have = number < sizes.size() ? sizes[number] : 0;
  if (bytes > have)
    return internal_error("the op asks for ", bytes, " bytes of scratch memory; ", have, " were planned");
  return {};
}

Result<u32> Instance::pack(std::span<const PackedPart> parts) {
  for (u32 i = 0; i < c_.constants.size(); ++i)
    if (c_.constants[i].matches(c_.graph, parts)) return i;
  return internal_error("the op asks for a packed constant that was not planned");
}

Result<u32> Instance::fault_slot(std::string_view what, u64 limit) {
  for (u32 i = 0; i < c_.faults.size(); ++i)
    if (c_.faults[i].op == op_ && c_.faults[i].what == what) {
      fault_limits_[i] = limit;
      return i;
    }
  return internal_error("the op reports about '", what, "', which was not planned");
}

void Instance::note_route(std::string_view family, const RouteShape& shape, std::string_view route) {
  records_[op_].family = family;
  records_[op_].shape = shape;
  records_[op_].route = route;
}

Status Instance::dispatch(const Kernel& kernel, std::span<const Operand> operands, Bytes params, Grid grid) {
  Record& record = records_[op_];
  const OpPlan& plan = c_.ops[op_];
  const u32 step = record.used;
  if (step >= plan.slots)
    return internal_error("the op asks for more than the ", plan.slots, " dispatches that were planned");
  gpu::Dispatch dispatch;
  const auto found = std::find_if(plan.variants.begin(), plan.variants.end(),
                                  [&](const Variant& v) { return v.matches(kernel, operands); });
  if (found != plan.variants.end()) {
    dispatch.pipeline = loaded_->pipelines[found->pipeline]->id();
    dispatch.bind_group = record.groups[size_t(found - plan.variants.begin())].id();
  } else {
    TRY(dispatch, late_variant(kernel, operands));
  }
  const u64 limit = c_.facts.device.limits.max_workgroups;
  const u64 rows = (grid.groups + limit - 1) / limit;
  dispatch.x = u32((grid.groups + rows - 1) / rows);
  dispatch.y = u32(rows);
  const u64 offset = u64(plan.first_slot + step) * slot_bytes;
  dispatch.params_offset = u32(offset);
  if (std::memcmp(shadow_.data() + offset, params.data(), params.size()) != 0) {
    std::memcpy(shadow_.data() + offset, params.data(), params.size());
    mark_dirty(offset, offset + (params.size() + 3) / 4 * 4);
  }
  if (record.steps[step] != dispatch) {
    record.steps[step] = dispatch;
    listed_for_.reset();
  }
  ++record.used;
  return {};
}

// A route that the survey did not visit. It works, but costs a compilation in the middle of a step; tests count these.
Result<gpu::Dispatch> Instance::late_variant(const Kernel& kernel, std::span<const Operand> operands) {
  for (const Late& late : late_)
    if (late.op == op_ && late.variant.matches(kernel, operands))
      return gpu::Dispatch{late.pipeline->id(), late.group.id()};
  Late late{op_, {kernel, {operands.begin(), operands.end()}, 0}, nullptr, {}};
  const gpu::PipelineSpec spec = assemble(kernel);
  late.pipeline = loaded_->context->find(spec.source);
  if (!late.pipeline) {
    TRY(auto pipeline, device_.compile_now(spec));
    late.pipeline = loaded_->context->add(spec.source, std::move(pipeline));
  }
  TRY(late.group, bind(op_, late.variant, late.pipeline->id()));
  ++stats_.late_pipelines;
  late_.push_back(std::move(late));
  return gpu::Dispatch{late_.back().pipeline->id(), late_.back().group.id()};
}

void Instance::mark_dirty(u64 begin, u64 end) {
  dirty_begin_ = std::min(dirty_begin_, begin);
  dirty_end_ = std::max(dirty_end_, end);
}

Status Instance::upload(std::span<const HostInput> inputs) {
  for (u32 i = 0; i < inputs.size(); ++i) {
    const ValueId id = c_.graph.inputs[i];
    const Storage& storage = c_.storage[id];
    if (storage.kind != StorageKind::input && storage.kind != StorageKind::transient) continue;
    const DType to = c_.facts.dtype[id];
    const u64 bytes = inputs[i].shape.numel() * size_of(to);
    const u64 padded = (bytes + 3) / 4 * 4;
    if (bytes == 0) continue;
    const bool small = storage.kind == StorageKind::input;
    const MutableBytes target =
        small ? MutableBytes(shadow_).subspan(storage.at.offset, padded) : MutableBytes(large_).first(padded);
    std::fill(target.begin() + std::ptrdiff_t(bytes), target.end(), std::byte(0));
    if (auto status = convert(inputs[i].bytes, inputs[i].dtype, target.first(bytes), to); !status) {
      // Nothing has been submitted: the next step plans from scratch.
      roll_back();
      return within(std::move(status), "input ", i);
    }
    if (small) {
      mark_dirty(storage.at.offset, storage.at.offset + padded);
    } else {
      TRY_DO(device_.write(pools_[storage.at.pool].id(), storage.at.offset, target));
      stats_.uploaded += padded;
    }
  }
  return {};
}

Status Instance::flush_arena() {
  if (dirty_begin_ >= dirty_end_) return {};
  TRY_DO(device_.write(arena_.id(), dirty_begin_, Bytes(shadow_).subspan(dirty_begin_, dirty_end_ - dirty_begin_)));
  stats_.uploaded += dirty_end_ - dirty_begin_;
  dirty_begin_ = UINT64_MAX;
  dirty_end_ = 0;
  return {};
}

void Instance::list_dispatches(u64 wanted) {
  dispatches_.clear();
  dispatch_ops_.clear();
  for (u32 op = 0; op < records_.size(); ++op) {
    if (!c_.ops[op].has_effects && (c_.ops[op].needed_by & wanted) == 0) continue;
    const Record& record = records_[op];
    if (record.is_done) continue;
    for (u32 step = 0; step < record.used; ++step) {
      dispatches_.push_back(record.steps[step]);
      dispatch_ops_.push_back(op);
    }
  }
  ahead_.commands = {};
  ahead_.copies.clear();
  listed_for_ = wanted;
}

void Instance::list_copies(u64 wanted) {
  copies_.clear();
  u64 at = faults_.size();
  if (faults_) copies_.push_back({faults_.id(), 0, staging_.id(), 0, faults_.size()});
  for (u32 i = 0; i < c_.graph.outputs.size(); ++i) {
    output_at_[i] = UINT64_MAX;
    const ValueId id = c_.graph.outputs[i];
    if (!c_.graph.tensor(id) || (wanted >> std::min<u32>(i, 63) & 1) == 0) continue;
    const u64 bytes = (live_.shape[id].numel() * size_of(c_.facts.dtype[id]) + 3) / 4 * 4;
    output_at_[i] = at;
    if (bytes > 0) {
      const Source source = locate_value(id);
      copies_.push_back({source.buffer, source.offset, staging_.id(), at, bytes});
    }
    at += (bytes + 15) / 16 * 16;
  }
  read_bytes_ = at;
}

Status Instance::submit(u64 wanted) {
  if (listed_for_ != wanted) list_dispatches(wanted);
  list_copies(wanted);
  repeats_ = ahead_.copies == copies_;
  const bool clears = faults_ && faults_dirty_;
  if (repeats_ && ahead_.commands && !clears && !profiling_) {
    TRY_DO(device_.submit(std::exchange(ahead_.commands, {})));
  } else {
    const gpu::Fill clear{faults_.id(), 0, faults_.size()};
    gpu::Submission submission;
    if (clears) submission.fills = std::span(&clear, 1);
    submission.dispatches = dispatches_;
    submission.copies_after = copies_;
    if (profiling_) submission.durations = &durations_;
    TRY_DO(device_.submit(submission));
    mark_done();
  }
  faults_dirty_ = false;
  stats_.dispatches = u32(dispatches_.size());
  stats_.read_back = read_bytes_;
  flying_limits_ = fault_limits_;
  in_flight_ = true;
  unprepared_ = true;
  if (read_bytes_ > 0) {
    if (auto status = device_.begin_read(staging_.id(), MutableBytes(host_copy_).first(read_bytes_)); !status) {
      in_flight_ = false;
      return status;
    }
  }
  return {};
}

// Ops whose result never changes are left out from now on.
void Instance::mark_done() {
  for (const u32 op : dispatch_ops_)
    if (c_.ops[op].is_constant && !std::exchange(records_[op].is_done, true)) listed_for_.reset();
}

Result<bool> Instance::finish(bool wait) {
  if (!in_flight_) return invalid("no step is under way; call begin first");
  prepare_next();
  if (read_bytes_ > 0) {
    auto done = device_.poll_read(staging_.id(), wait);
    if (!done) {
      in_flight_ = false;
      return done;
    }
    if (!*done) return false;
  }
  in_flight_ = false;
  TRY_DO(device_.health());
  TRY_DO(check_faults());
  TRY_DO(check_guards());
  return true;
}

Status Instance::check_faults() {
  for (size_t i = 0; i < c_.faults.size(); ++i) {
    u32 words[2];
    std::memcpy(words, host_copy_.data() + i * 8, 8);
    if (words[0] == 0) continue;
    faults_dirty_ = true;
    const FaultSlot& fault = c_.faults[i];
    return within(Status(invalid(fault.what, " ", i32(words[1]), " is out of range; there are ", flying_limits_[i])),
                  describe(c_.graph.ops[fault.op]));
  }
  return {};
}

}  // namespace pteron::graph
