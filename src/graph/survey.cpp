// SPDX-License-Identifier: BSD-3-Clause
#include "graph/survey.h"

#include "graph/op.h"

#include <algorithm>

namespace pteron::graph {
namespace {

constexpr u32 max_paths = 256;

template <class T>
void add_once(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

}  // namespace

bool is_set_again(const CompiledGraph& compiled, u32 op, ValueId id) {
  const Effects& effects = compiled.facts.effects;
  const auto sets = [&](const Use& use) { return use.value == id && use.writes(); };
  for (u32 other : effects.writing(id)) {
    if (other >= op) break;
    if (std::ranges::any_of(effects.of(other), sets)) return true;
  }
  return std::ranges::find(compiled.graph.inputs, id) != compiled.graph.inputs.end();
}

Status Surveyor::run(std::vector<UnsupportedOp>* problems) {
  const Graph& graph = c_.graph;
  const size_t count = graph.values.size();
  live_.shape.assign(count, {});
  live_.number.assign(count, 0);
  produced_.assign(count, 0);
  for (ValueId id = 0; id < count; ++id) {
    if (const Tensor* tensor = graph.tensor(id)) {
      live_.shape[id] = tensor->max;
      produced_[id] = tensor->constant.has_value();
    } else if (const auto* symint = std::get_if<SymInt>(&graph.values[id])) {
      live_.number[id] = symint->initial;
    }
  }
  origin_.assign(count, std::nullopt);
  for (u32 i = 0; i < graph.inputs.size(); ++i) {
    produced_[graph.inputs[i]] = 1;
    origin_[graph.inputs[i]] = i;
  }

  c_.ops.assign(graph.ops.size(), {});
  c_.pipelines.clear();
  c_.constants.clear();
  c_.index_checks.clear();
  c_.faults.clear();
  traffic_ = {};
  traffic_.reads.resize(graph.ops.size());
  traffic_.writes.resize(graph.ops.size());
  for (op_ = 0; op_ < graph.ops.size(); ++op_) {
    const Op& op = graph.ops[op_];
    Status status = op.entry ? visit() : Status();
    follow_inputs(op);
    if (status && op.entry) continue;
    if (!matters(status)) {
      give_up();
      continue;
    }
    if (!problems) return within(std::move(status), describe(op));
    if (op.entry) problems->push_back({op.position, op.name, status.error().message});
    give_up();
  }
  if (problems && !problems->empty()) return {};
  for (ValueId id : graph.outputs)
    if (!produced_[source_of(id)] && !std::holds_alternative<i64>(graph.values[id]))
      return invalid("graph output ", id, " is never produced");
  return {};
}

Status Surveyor::check(std::vector<UnsupportedOp>* problems) {
  checks_only_ = true;
  return run(problems);
}

bool Surveyor::matters(const Status& status) const {
  return !checks_only_ || status || status.error().kind == ErrorKind::invalid;
}

Status Surveyor::visit() {
  path_.clear();
  u32 paths = 0;
  do {
    if (++paths > max_paths) return internal_error("the op has more than ", max_paths, " routes");
    decisions_ = 0;
    steps_ = 0;
    Plan plan(Plan::Mode::survey, c_.facts, op_, live_, *this);
    TRY_DO(plan.run());
    c_.ops[op_].slots = std::max(c_.ops[op_].slots, steps_);
  } while (next_path());
  return {};
}

// Turns the last decision that has been answered only one way.
bool Surveyor::next_path() {
  path_.resize(std::min<size_t>(path_.size(), decisions_));
  while (!path_.empty() && path_.back().flipped) path_.pop_back();
  if (path_.empty()) return false;
  path_.back() = {!path_.back().answer, true};
  return true;
}

bool Surveyor::branch(bool condition, bool settled) {
  if (settled) return condition;
  if (decisions_ == path_.size()) path_.push_back({condition, false});
  return path_[decisions_++].answer;
}

// So that the ops behind a failed one are looked at too.
void Surveyor::give_up() {
  for (const Use& use : c_.facts.effects.of(op_))
    if (use.writes()) produced_[use.value] = c_.facts.varies[use.value] = 1;
}

// What an op writes is no input's copy any more, unless the op is the one that copies it.
void Surveyor::follow_inputs(const Op& op) {
  if (is_plain_copy(c_.facts, op)) {
    origin_[op.args.back()] = origin_[op.args.front()];
    return;
  }
  for (const Use& use : c_.facts.effects.of(op_))
    if (use.writes()) origin_[use.value].reset();
}

ValueId Surveyor::source_of(ValueId id) const {
  const Tensor* tensor = c_.graph.tensor(id);
  return tensor && tensor->part ? tensor->part->of : id;
}

Status Surveyor::read(ValueId id) {
  if (!produced_[source_of(id)]) return invalid("value ", id, " is read before any op has produced it");
  add_once(c_.ops[op_].reads, id);
  return {};
}

// True if an argument never has an element and no number decides, so that a result without any at the largest sizes has
// none at others. Ops may divide by sizes of arguments where a result has elements.
bool Surveyor::is_always_empty(const Shape& shape) const {
  if (shape.numel() > 0 || !c_.ops[op_].host_reads.empty()) return false;
  bool from_nothing = false;
  for (const Use& use : c_.facts.effects.of(op_)) {
    if (use.role == Role::out) continue;
    const Tensor* tensor = c_.graph.tensor(use.value);
    if (!tensor) return false;
    from_nothing |= tensor->max.numel() == 0;
  }
  return from_nothing;
}

Status Surveyor::resize(ValueId id, const Shape& shape, bool settled) {
  if (id == no_value) return {};
  const Shape& max = c_.graph.tensor(id)->max;
  if (settled && !(shape == max)) return invalid("the result has shape ", shape, ", but the file says ", max);
  if (shape.rank() != max.rank())
    return invalid("the result ", shape, " has rank ", shape.rank(), ", but the file says ", max);
  if (max.numel() > 0 && is_always_empty(shape))
    return invalid("the result ", shape, " never has an element, but the file says ", max);
  live_.shape[id] = max;
  produced_[source_of(id)] = 1;
  if (is_set_again(c_, op_, id)) add_once(c_.ops[op_].reads, id);  // what it replaces may not fit any more
  // State keeps its shape; what would change it fails when it does.
  const Tensor& tensor = *c_.graph.tensor(id);
  if (!settled && !tensor.constant && !tensor.fixed) c_.facts.varies[id] = 1;
  return {};
}

Status Surveyor::set_number(ValueId id, i64 value, bool settled) {
  if (is_set_again(c_, op_, id))
    return unsupported("value ", id, " is set by two ops; a symbolic integer has one value");
  live_.number[id] = value;
  produced_[id] = 1;
  if (!settled) c_.facts.varies[id] = 1;
  return {};
}

Status Surveyor::scratch(u32 number, u64 bytes) {
  auto& sizes = c_.ops[op_].scratch;
  if (number >= sizes.size()) sizes.resize(number + 1, 0);
  sizes[number] = std::max(sizes[number], bytes);
  if (bytes > c_.facts.device.limits.max_storage_binding_bytes)
    return fail(ErrorKind::out_of_memory, "the op needs ", human_bytes(bytes),
                " of scratch memory in one piece; this device binds at most ",
                human_bytes(c_.facts.device.limits.max_storage_binding_bytes));
  return {};
}

Result<u32> Surveyor::pack(std::span<const PackedPart> parts) {
  const Effects& effects = c_.facts.effects;
  for (const PackedPart& part : parts)
    if (!effects.is_fixed(c_.graph, part.constant) || !effects.reads(op_, part.constant))
      return internal_error("value ", part.constant, " can't be packed: it is no argument, or not constant");
  for (u32 i = 0; i < c_.constants.size(); ++i)
    if (c_.constants[i].matches(c_.graph, parts)) return i;
  ConstantUse use;
  for (const PackedPart& part : parts) {
    const Tensor* tensor = c_.graph.tensor(part.constant);
    use.pieces.push_back({*tensor->constant, tensor->dtype, c_.facts.dtype[part.constant], part.packing, use.bytes});
    use.bytes += part.packing.packed_bytes();
  }
  c_.constants.push_back(std::move(use));
  return u32(c_.constants.size() - 1);
}

Result<u32> Surveyor::fault_slot(std::string_view what, u64) {
  for (u32 i = 0; i < c_.faults.size(); ++i)
    if (c_.faults[i].op == op_ && c_.faults[i].what == what) return i;
  c_.faults.push_back({op_, std::string(what)});
  return u32(c_.faults.size() - 1);
}

void Surveyor::check_indices(ValueId indices, u64 limit, std::string_view what, bool negative) {
  if (indices == no_value || !origin_[indices]) return;
  IndexCheck check{op_, *origin_[indices], limit, std::string(what), negative};
  const auto same = [&](const IndexCheck& o) {
    return o.op == check.op && o.input == check.input && o.what == check.what;
  };
  if (std::none_of(c_.index_checks.begin(), c_.index_checks.end(), same)) c_.index_checks.push_back(std::move(check));
}

void Surveyor::use_cache(ValueId tensor, u32 axis, u64, bool writes) {
  if (tensor != no_value) add_once(traffic_.caches, {op_, tensor, axis, writes});
}

Result<i64> Surveyor::host_element(ValueId tensor, u64) {
  if (tensor == no_value) return 0;
  const auto is_declared = [&](const Use& use) { return use.value == tensor && use.role == Role::host; };
  if (std::ranges::none_of(c_.facts.effects.of(op_), is_declared))
    return internal_error("value ", tensor, " is read on the host, but the op's signature does not say so");
  if (!origin_[tensor])
    return unsupported("value ", tensor, " is read on the host, but it is not an input of the graph",
                       c_.graph.is_input(tensor) ? " any more: an op has written it" : "");
  add_once(c_.ops[op_].host_reads, {tensor, *origin_[tensor]});
  return 0;
}

// A kernel may do to arguments what the op's signature says, so that nobody is surprised.
Status Surveyor::check_declared(const KernelSource& kernel, const Operand& operand, gpu::BindingKind kind) const {
  if (operand.kind != Operand::tensor) return {};
  const bool writes = kind == gpu::BindingKind::read_write;
  const Effects& effects = c_.facts.effects;
  if (writes ? effects.writes(op_, operand.index) : effects.reads(op_, operand.index)) return {};
  return internal_error("kernel ", kernel.name, writes ? " writes" : " reads", " value ", operand.index,
                        ", but the op's signature does not say so");
}

Status Surveyor::check_operand(const KernelSource& kernel, const Operand& operand, gpu::BindingKind kind) {
  const gpu::Limits& limits = c_.facts.device.limits;
  u64 bytes = operand.size;
  std::string what = "an operand";
  if (operand.kind == Operand::tensor) {
    if (operand.index == no_value) return internal_error("kernel ", kernel.name, " binds nothing");
    const Tensor& tensor = *c_.graph.tensor(operand.index);
    what = str("value ", operand.index, " of shape ", tensor.max);
    if (bytes == 0) bytes = tensor.max.numel() * size_of(c_.facts.dtype[operand.index]);
  } else if (operand.kind == Operand::packed && bytes == 0) {
    bytes = c_.constants[operand.index].bytes;
    what = "a packed constant";
  }
  const u64 limit =
      kind == gpu::BindingKind::uniform ? limits.max_uniform_binding_bytes : limits.max_storage_binding_bytes;
  if (bytes > limit)
    return fail(ErrorKind::out_of_memory, what, " needs ", human_bytes(bytes),
                " in one binding, but this device allows at most ", human_bytes(limit));
  return {};
}

u32 Surveyor::pipeline_for(const Kernel& kernel) {
  const auto found = std::find(c_.pipelines.begin(), c_.pipelines.end(), kernel);
  if (found != c_.pipelines.end()) return u32(found - c_.pipelines.begin());
  c_.pipelines.push_back(kernel);
  return u32(c_.pipelines.size() - 1);
}

Status Surveyor::dispatch(const Kernel& kernel, std::span<const Operand> operands, Bytes, Grid) {
  ++steps_;
  auto& variants = c_.ops[op_].variants;
  if (std::any_of(variants.begin(), variants.end(), [&](const Variant& v) { return v.matches(kernel, operands); }))
    return {};
  u32 storage_buffers = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const gpu::BindingKind kind = kernel.bindings()[i + 1];
    TRY_DO(check_operand(kernel.source(), operands[i], kind));
    TRY_DO(check_declared(kernel.source(), operands[i], kind));
    if (kind != gpu::BindingKind::uniform) ++storage_buffers;
    if (operands[i].kind != Operand::tensor) continue;
    add_once(kind == gpu::BindingKind::read_write ? traffic_.writes[op_] : traffic_.reads[op_], operands[i].index);
  }
  if (storage_buffers > c_.facts.device.limits.max_storage_buffers)
    return unsupported("kernel ", kernel.source().name, " binds ", storage_buffers, " buffers; this device allows ",
                       c_.facts.device.limits.max_storage_buffers);
  variants.push_back({kernel, {operands.begin(), operands.end()}, pipeline_for(kernel)});
  return {};
}

}  // namespace pteron::graph
