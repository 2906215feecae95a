// SPDX-License-Identifier: BSD-3-Clause
// Setting an instance up, its state, and reading its outputs. Steps are in step.cpp.
#include "graph/instance.h"

#include "graph/convert.h"

#include <algorithm>
#include <cstring>

namespace pteron::graph {

Instance::Instance(std::shared_ptr<const LoadedGraph> loaded)
    : loaded_(std::move(loaded)), c_(*loaded_->compiled), device_(loaded_->context->device()) {}

Result<std::unique_ptr<Instance>> Instance::create(std::shared_ptr<const LoadedGraph> loaded) {
  std::unique_ptr<Instance> self(new Instance(std::move(loaded)));
  TRY_DO(self->allocate());
  TRY_DO(self->init_state());
  TRY_DO(self->paint_guards());
  TRY_DO(self->bind_all());
  return self;
}

Result<std::unique_ptr<Instance>> Instance::clone() {
  if (in_flight_) return invalid("an instance can't be cloned while a step is under way; call finish first");
  TRY(auto other, create(loaded_));
  for (size_t i = 0; i < states_.size(); ++i)
    if (c_.states[i].position_bytes > 0) other->wanted_positions_[i] = states_[i].size() / c_.states[i].position_bytes;
  TRY_DO(other->grow_caches());
  std::vector<gpu::Copy> copies;
  for (size_t i = 0; i < states_.size(); ++i)
    copies.push_back({states_[i].id(), 0, other->states_[i].id(), 0, states_[i].size()});
  gpu::Submission submission;
  submission.copies_before = copies;
  if (!copies.empty()) TRY_DO(device_.submit(submission));
  return other;
}

Status Instance::allocate() {
  const size_t values = c_.graph.values.size();
  live_.shape.resize(values);
  live_.number.assign(values, 0);
  changed_.assign(values, 0);
  journal_.reserve(values);
  for (ValueId id = 0; id < values; ++id)
    if (const Tensor* tensor = c_.graph.tensor(id)) live_.shape[id] = tensor->max;

  fault_limits_.assign(c_.faults.size(), 0);
  const u64 fault_bytes = (c_.faults.size() * 8 + 15) / 16 * 16;
  const u64 arena_bytes = c_.memory.arena - fault_bytes;
  shadow_.assign(arena_bytes, std::byte(0));
  if (arena_bytes > 0) {
    TRY(arena_, device_.create_buffer(arena_bytes, gpu::BufferUse::gpu, "parameters and inputs"));
  }
  if (fault_bytes > 0) {
    TRY(faults_, device_.create_buffer(fault_bytes, gpu::BufferUse::gpu, "faults"));
  }
  if (c_.memory.staging > 0) {
    TRY(staging_, device_.create_buffer(c_.memory.staging, gpu::BufferUse::readback, "staging"));
    host_copy_.resize(c_.memory.staging);
  }
  for (u64 bytes : c_.memory.pools) {
    TRY(auto pool, device_.create_buffer(bytes, gpu::BufferUse::gpu, str("activations ", pools_.size())));
    pools_.push_back(std::move(pool));
  }
  wanted_positions_.assign(c_.states.size(), 0);
  for (u32 i = 0; i < c_.states.size(); ++i) {
    TRY(auto state,
        device_.create_buffer(bytes_for(i, 0), gpu::BufferUse::gpu, str("state of value ", c_.states[i].value)));
    states_.push_back(std::move(state));
  }
  output_at_.assign(c_.graph.outputs.size(), UINT64_MAX);
  copies_.reserve(c_.graph.outputs.size() + 1);
  size_t steps = 0;
  records_.resize(c_.ops.size());
  for (size_t op = 0; op < c_.ops.size(); ++op) {
    records_[op].steps.resize(c_.ops[op].slots);
    steps += c_.ops[op].slots;
  }
  dispatches_.reserve(steps);
  dispatch_ops_.reserve(steps);
  u64 largest = 0;
  for (ValueId id : c_.graph.inputs)
    if (c_.storage[id].kind == StorageKind::transient) largest = std::max(largest, c_.storage[id].bytes);
  large_.resize(largest);
  return {};
}

Status Instance::init_state() {
  std::vector<gpu::Fill> fills;
  std::vector<gpu::Copy> copies;
  for (size_t i = 0; i < states_.size(); ++i) {
    const auto& initial = loaded_->initial_states[i];
    if (initial)
      copies.push_back({initial->pieces[0].buffer.id(), 0, states_[i].id(), 0, states_[i].size()});
    else
      fills.push_back({states_[i].id(), 0, states_[i].size()});
  }
  if (fills.empty() && copies.empty()) return {};
  gpu::Submission submission;
  submission.fills = fills;
  submission.copies_before = copies;
  return device_.submit(submission);
}

Status Instance::reset() {
  if (in_flight_) return invalid("state can't be reset while a step is under way; call finish first");
  return init_state();
}

Status Instance::rewind(u32 position) {
  if (in_flight_) return invalid("state can't be rewound while a step is under way; call finish first");
  std::vector<gpu::Fill> fills;
  std::vector<gpu::Copy> copies;
  for (size_t i = 0; i < states_.size(); ++i) {
    const StateUse& use = c_.states[i];
    const Shape& shape = c_.graph.tensor(use.value)->max;
    if (!use.cache_axis)
      return unsupported("state of value ", use.value, " ", shape,
                         " is not indexed by position, so it can't be rewound; use reset or clone");
    const u32 axis = *use.cache_axis;
    if (position > shape[axis])
      return invalid("can't rewind to position ", position, ": the cache holds ", shape[axis], " positions");
    const u64 row = shape.product(axis + 1, shape.rank()) * size_of(use.to);
    for (u64 b = 0; b < shape.product(0, axis); ++b) {
      const u64 begin = (b * shape[axis] + position) * row;
      const u64 end = std::min((b + 1) * shape[axis] * row, states_[i].size());
      if (begin >= end) continue;
      if (begin % 4 != 0 || end % 4 != 0)
        return unsupported("the rows of a cache of shape ", shape, " are not whole words, so it can't be rewound");
      const auto& initial = loaded_->initial_states[i];
      if (initial)
        copies.push_back({initial->pieces[0].buffer.id(), begin, states_[i].id(), begin, end - begin});
      else
        fills.push_back({states_[i].id(), begin, end - begin});
    }
  }
  gpu::Submission submission;
  submission.fills = fills;
  submission.copies_before = copies;
  return device_.submit(submission);
}

Status Instance::bind_all() {
  for (u32 op = 0; op < c_.ops.size(); ++op)
    for (const Variant& variant : c_.ops[op].variants) {
      auto group = within(bind(op, variant, loaded_->pipelines[variant.pipeline]->id()), describe(c_.graph.ops[op]));
      if (!group) return Failure(std::move(group.error()));
      records_[op].groups.push_back(*std::move(group));
    }
  return {};
}

Result<gpu::BindGroup> Instance::bind(u32 op, const Variant& variant, gpu::Id pipeline) {
  std::array<gpu::BindingRange, 16> ranges;
  ranges[0] = {arena_.id(), 0, slot_bytes};
  for (size_t i = 0; i < variant.operands.size(); ++i) {
    TRY(const Source source, locate(op, variant.operands[i]));
    ranges[i + 1] = {source.buffer, source.offset, source.size};
  }
  return device_.create_bind_group(pipeline, std::span(ranges).first(variant.operands.size() + 1),
                                   variant.kernel.source().name);
}

Result<Instance::Source> Instance::locate(u32 op, const Operand& operand) const {
  switch (operand.kind) {
    case Operand::fault: return Source{faults_.id(), 0, faults_.size()};
    case Operand::packed: return locate_constant(operand.index, operand.offset, operand.size);
    case Operand::scratch: {
      const Placement at = c_.ops[op].scratch_at[operand.index];
      const u64 bytes = (c_.ops[op].scratch[operand.index] + 15) / 16 * 16;
      return Source{pools_[at.pool].id(), at.offset, std::max<u64>(bytes + c_.guard_size, 16)};
    }
    case Operand::tensor: break;
  }
  const Storage& storage = c_.storage[c_.facts.effects.memory(operand.index)];
  if (storage.kind == StorageKind::constant) return locate_constant(storage.index, operand.offset, operand.size);
  Source source = locate_value(operand.index);
  if (source.buffer == 0) return internal_error("value ", operand.index, " has no memory");
  if (operand.size > 0) source.offset += operand.offset, source.size = operand.size;
  return source;
}

Result<Instance::Source> Instance::locate_constant(u32 index, u64 offset, u64 size) const {
  const GpuConstant& constant = *loaded_->constants[index];
  if (size == 0 && constant.pieces.size() == 1)
    return Source{constant.pieces[0].buffer.id(), 0, constant.pieces[0].buffer.size()};
  for (const GpuConstant::Piece& piece : constant.pieces)
    if (offset >= piece.offset && offset + size <= piece.offset + piece.buffer.size() && size > 0)
      return Source{piece.buffer.id(), offset - piece.offset, size};
  return internal_error("bytes ", offset, " to ", offset + size, " of a constant lie in no one buffer");
}

Instance::Source Instance::locate_value(ValueId id) const {
  const Storage& storage = c_.storage[c_.facts.effects.memory(id)];
  switch (storage.kind) {
    case StorageKind::none: return {};
    case StorageKind::input: return {arena_.id(), storage.at.offset, storage.bytes};
    case StorageKind::transient:
      return {pools_[storage.at.pool].id(), storage.at.offset, storage.bytes + c_.guard_size};
    case StorageKind::state: return {states_[storage.index].id(), 0, states_[storage.index].size()};
    case StorageKind::constant: return {loaded_->constants[storage.index]->pieces[0].buffer.id(), 0, storage.bytes};
  }
  return {};
}

const Shape& Instance::output_shape(u32 index) const { return live_.shape[c_.graph.outputs[index]]; }
bool Instance::output_is_tensor(u32 index) const { return c_.graph.tensor(c_.graph.outputs[index]) != nullptr; }
DType Instance::output_dtype(u32 index) const { return c_.facts.dtype[c_.graph.outputs[index]]; }

Result<i64> Instance::output_number(u32 index) const {
  const ValueId id = c_.graph.outputs[index];
  if (const auto* fixed = std::get_if<i64>(&c_.graph.values[id])) return *fixed;
  if (std::holds_alternative<SymInt>(c_.graph.values[id])) {
    const i64 number = live_.number[id];
    if (number < INT32_MIN || number > INT32_MAX) return unsupported("output ", index, " is a number with a fraction");
    return number;
  }
  return invalid("output ", index, " is a tensor, not a number");
}

Status Instance::read_output(u32 index, DType dtype, MutableBytes into) const {
  if (in_flight_) return invalid("outputs can't be read while a step is under way; call finish first");
  if (index >= output_at_.size() || output_at_[index] == UINT64_MAX)
    return invalid("output ", index, " was not asked for");
  const u64 numel = output_shape(index).numel();
  if (into.size() != numel * size_of(dtype))
    return invalid("output ", index, " has shape ", output_shape(index), "; ", into.size(), " bytes are not ", numel,
                   " elements of ", dtype);
  const DType device = output_dtype(index);
  const Bytes from = Bytes(host_copy_).subspan(output_at_[index], numel * size_of(device));
  return within(convert(from, device, into, dtype), "output ", index);
}

u64 Instance::gpu_bytes() const {
  u64 sum = arena_.size() + faults_.size() + staging_.size();
  for (const auto& pool : pools_) sum += pool.size();
  for (const auto& state : states_) sum += state.size();
  return sum;
}

std::vector<OpTime> Instance::profile() const {
  std::vector<OpTime> out;
  for (u32 i = 0; i < durations_.size() && i < dispatch_ops_.size(); ++i) {
    const Record& record = records_[dispatch_ops_[i]];
    const auto& [rows, depth, columns] = record.shape;
    out.push_back(
        {dispatch_ops_[i], kernel_name(i), durations_[i],
         record.family.empty() ? "" : str(record.family, "@", rows, "x", depth, "x", columns, "=", record.route)});
  }
  return out;
}

std::string_view Instance::kernel_name(u32 dispatch) const {
  if (dispatch >= dispatches_.size()) return "?";
  for (const Variant& variant : c_.ops[dispatch_ops_[dispatch]].variants)
    if (loaded_->pipelines[variant.pipeline]->id() == dispatches_[dispatch].pipeline)
      return variant.kernel.source().name;
  return "?";
}

}  // namespace pteron::graph
