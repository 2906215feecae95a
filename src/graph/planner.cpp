// SPDX-License-Identifier: BSD-3-Clause
#include "graph/planner.h"

#include "graph/survey.h"

#include <algorithm>
#include <utility>

namespace pteron::graph {

Planner::Planner(const CompiledGraph& compiled, Arena& arena) : c_(compiled), arena_(arena) {
  const size_t values = c_.graph.values.size();
  live_.shape.resize(values);
  live_.number.assign(values, 0);
  changed_.assign(values, 0);
  journal_.reserve(values);
  new_.reserve(c_.ops.size());
  for (ValueId id = 0; id < values; ++id)
    if (const Tensor* tensor = c_.graph.tensor(id)) live_.shape[id] = tensor->max;
  fault_limits_.assign(c_.faults.size(), 0);
  positions_.assign(c_.states.size(), 0);
  records_.resize(c_.ops.size());
  for (size_t op = 0; op < c_.ops.size(); ++op) {
    records_[op].steps.resize(c_.ops[op].slots);
    records_[op].operations.resize(c_.ops[op].slots);
  }
}

std::span<const PlannedDispatch> Planner::dispatches(u32 op) const {
  return std::span(records_[op].steps).first(records_[op].used);
}

std::span<const u64> Planner::operations(u32 op) const {
  return std::span(records_[op].operations).first(records_[op].used);
}

std::string Planner::route(u32 op) const {
  const Record& record = records_[op];
  const auto& [rows, depth, columns] = record.shape;
  return record.family.empty() ? "" : str(record.family, "@", rows, "x", depth, "x", columns, "=", record.route);
}

void Planner::change_shape(ValueId id, const Shape& shape) {
  if (live_.shape[id] == shape) return;
  journal_.push_back({id, live_.shape[id], live_.number[id]});
  live_.shape[id] = shape;
  changed_[id] = 1;
}

void Planner::change_number(ValueId id, i64 number) {
  if (live_.number[id] == number) return;
  journal_.push_back({id, live_.shape[id], live_.number[id]});
  live_.number[id] = number;
  changed_[id] = 1;
}

Status Planner::plan(std::span<const HostInput> inputs) {
  if (take_foreseen(inputs)) return {};
  for (HostRead& read : host_reads_) read.before = read.value;
  replanned_ = 0;
  journal_.clear();
  for (u32 i = 0; i < inputs.size(); ++i) {
    const ValueId id = c_.graph.inputs[i];
    if (inputs[i].number)
      change_number(id, *inputs[i].number);
    else
      change_shape(id, inputs[i].shape);
  }
  inputs_ = inputs;
  const Status planned = plan_due();
  inputs_ = {};
  if (!planned) roll_back();
  return planned;
}

Status Planner::plan_due() {
  for (op_ = 0; op_ < c_.ops.size(); ++op_) {
    const OpPlan& plan = c_.ops[op_];
    const bool due = records_[op_].stale || !plan.host_reads.empty() ||
                     std::any_of(plan.reads.begin(), plan.reads.end(), [&](ValueId id) { return changed_[id]; });
    if (due) TRY_DO(plan_one(op_));
  }
  count_positions();
  return {};
}

Status Planner::plan_one(u32 op) {
  Record& record = records_[op];
  record.stale = true;  // until it is done
  if (!std::exchange(record.is_new, true)) new_.push_back(op);
  record.caches.clear();
  const u32 before = std::exchange(record.used, 0);
  std::ranges::fill(record.operations, u64(0));
  Plan plan(Plan::Mode::live, c_.facts, op, live_, *this);
  Status status = plan.run();
  if (record.used != before) ++version_;
  if (!status) return within(std::move(status), describe(c_.graph.ops[op]));
  record.stale = false;
  ++replanned_;
  return {};
}

// Of all ops, not only of those that planned again: the step may run on a state with less room than the last one had.
void Planner::count_positions() {
  std::ranges::fill(positions_, u64(0));
  for (const Record& record : records_)
    for (const Record::CacheUse& use : record.caches)
      positions_[use.state] = std::max(positions_[use.state], use.positions);
}

void Planner::roll_back() {
  for (size_t i = journal_.size(); i-- > 0;) {
    live_.shape[journal_[i].id] = journal_[i].shape;
    live_.number[journal_[i].id] = journal_[i].number;
  }
  // What they read may be as before, but what they set is taken back: a first plan of constant numbers, say.
  for (const u32 op : new_) records_[op].stale = true;
  accept();
  journal_.clear();
}

// Only of what the step changed: the GPU waits for this, and after its work nothing is in a cache.
void Planner::accept() {
  for (const Change& change : journal_) changed_[change.id] = 0;
  for (const u32 op : new_) records_[op].is_new = false;
  new_.clear();
  phase_ = Phase::settled;
}

Status Planner::resize(ValueId id, const Shape& shape, bool) {
  const Shape& max = c_.graph.tensor(id)->max;
  if (c_.graph.tensor(id)->constant && !(shape == max))
    return invalid("the result has shape ", shape, ", but it updates state of shape ", max, ", which can't change");
  if (!shape.fits_in(max)) return invalid("the result has shape ", shape, ", but the program allows at most ", max);
  if (c_.graph.tensor(id)->fixed && shape != max)
    return unsupported("the result has shape ", shape, " now, but had ", max, "; in a batch it can't change");
  // Who read the shape before, and reads it in the next step, would find this one.
  if (shape != live_.shape[id] && is_set_again(c_, op_, id))
    return unsupported("the result has shape ", shape, ", but is written over a tensor of shape ", live_.shape[id],
                       "; only a result of the same shape can be");
  change_shape(id, shape);
  return {};
}

Status Planner::set_number(ValueId id, i64 value, bool) {
  change_number(id, value);
  return {};
}

Status Planner::scratch(u32 number, u64 bytes) {
  const auto& sizes = c_.ops[op_].scratch;
  const u64 have = number < sizes.size() ? sizes[number] : 0;
  if (bytes > have)
    return internal_error("the op asks for ", bytes, " bytes of scratch memory; ", have, " were planned");
  return {};
}

Result<u32> Planner::pack(std::span<const PackedPart> parts) {
  for (u32 i = 0; i < c_.constants.size(); ++i)
    if (c_.constants[i].matches(c_.graph, parts)) return i;
  return internal_error("the op asks for a packed constant that was not planned");
}

Result<u32> Planner::fault_slot(std::string_view what, u64 limit) {
  for (u32 i = 0; i < c_.faults.size(); ++i)
    if (c_.faults[i].op == op_ && c_.faults[i].what == what) {
      fault_limits_[i] = limit;
      return i;
    }
  return internal_error("the op reports about '", what, "', which was not planned");
}

void Planner::use_cache(ValueId id, u32, u64 positions, bool) {
  const Storage& storage = c_.storage[c_.facts.effects.memory(id)];
  if (storage.kind == StorageKind::state) records_[op_].caches.push_back({storage.index, positions});
}

void Planner::note_route(std::string_view family, const RouteShape& shape, std::string_view route) {
  records_[op_].family = family;
  records_[op_].shape = shape;
  records_[op_].route = route;
}

void Planner::note_operations(u64 count) {
  Record& record = records_[op_];
  if (record.used < record.operations.size()) record.operations[record.used] = count;
}

Status Planner::dispatch(const Kernel& kernel, std::span<const Operand> operands, Bytes params, Grid grid) {
  Record& record = records_[op_];
  const OpPlan& plan = c_.ops[op_];
  const u32 step = record.used;
  if (step >= plan.slots)
    return internal_error("the op asks for more than the ", plan.slots, " dispatches that were planned");
  PlannedDispatch planned{.op = op_};
  const auto found = std::find_if(plan.variants.begin(), plan.variants.end(),
                                  [&](const Variant& v) { return v.matches(kernel, operands); });
  planned.number = u32(found - plan.variants.begin());
  planned.variant = found != plan.variants.end() ? &*found : &late_variant(kernel, operands);
  const u64 limit = c_.facts.device.limits.max_workgroups;
  const u64 rows = (grid.groups + limit - 1) / limit;
  planned.x = u32((grid.groups + rows - 1) / rows);
  planned.y = u32(rows);
  planned.params_offset = u32(u64(plan.first_slot + step) * slot_bytes);
  arena_.put(planned.params_offset, params);
  if (record.steps[step] != planned) {
    record.steps[step] = planned;
    ++version_;
  }
  ++record.used;
  return {};
}

// The survey did not visit this route, so it has no pipeline yet.
const Variant& Planner::late_variant(const Kernel& kernel, std::span<const Operand> operands) {
  for (const Late& late : late_)
    if (late.op == op_ && late.variant.matches(kernel, operands)) return late.variant;
  return late_.emplace_back(op_, Variant{kernel, {operands.begin(), operands.end()}, 0}).variant;
}

}  // namespace pteron::graph
