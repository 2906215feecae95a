// SPDX-License-Identifier: BSD-3-Clause
#include "graph/working_memory.h"

#include "graph/dtype_cast.h"

#include <algorithm>
#include <array>

namespace pteron::graph {
namespace {

u64 fault_bytes(const CompiledGraph& c) { return (c.faults.size() * 8 + 15) / 16 * 16; }

bool touches_state(const CompiledGraph& c, const Variant& variant) {
  return std::ranges::any_of(variant.operands, [&](const Operand& operand) {
    return operand.kind == Operand::tensor &&
           c.storage[c.facts.effects.memory(operand.index)].kind == StorageKind::state;
  });
}

u64 part_bytes(const CompiledGraph& c, ValueId id) {
  return (c.graph.tensor(id)->max.numel() * size_of(c.facts.dtype[id]) + 15) / 16 * 16;
}

WorkingMemory::Range whole(const gpu::Buffer& buffer) { return {buffer.id(), 0, buffer.size()}; }

}  // namespace

WorkingMemory::WorkingMemory(std::shared_ptr<const LoadedGraph> loaded)
    : loaded_(std::move(loaded)),
      c_(*loaded_->compiled),
      device_(loaded_->context->device()),
      arena_(c_.memory.arena - fault_bytes(c_)) {
  for (u32 lane = 0; lane < c_.graph.lanes; ++lane) identities_.push_back(std::make_shared<int>());
}

Result<std::unique_ptr<WorkingMemory>> WorkingMemory::create(std::shared_ptr<const LoadedGraph> loaded) {
  std::unique_ptr<WorkingMemory> self(new WorkingMemory(std::move(loaded)));
  TRY_DO(self->allocate());
  TRY(self->groups_, self->bind_groups(nullptr, 0));
  return self;
}

Status WorkingMemory::allocate() {
  if (arena_.size() > 0) {
    TRY(arena_buffer_, device_.create_buffer(arena_.size(), gpu::BufferUse::gpu, "parameters and inputs"));
  }
  if (!c_.faults.empty()) {
    TRY(faults_, device_.create_buffer(fault_bytes(c_), gpu::BufferUse::gpu, "faults"));
  }
  if (c_.memory.staging > 0) {
    TRY(staging_, device_.create_buffer(c_.memory.staging, gpu::BufferUse::readback, "staging"));
  }
  for (u64 bytes : c_.memory.pools) {
    TRY(auto pool, device_.create_buffer(bytes, gpu::BufferUse::gpu, str("activations ", pools_.size())));
    pools_.push_back(std::move(pool));
  }
  u64 largest = 0;
  for (ValueId id : c_.graph.inputs)
    if (c_.storage[id].kind == StorageKind::transient) largest = std::max(largest, c_.storage[id].bytes);
  large_.resize(largest);
  place_groups();
  return {};
}

// A state keeps no more than its own groups: with many lanes they are few among all.
void WorkingMemory::place_groups() {
  std::vector<u32> with_state(c_.graph.lanes, 0);
  u32 without = 0;
  for (u32 op = 0; op < c_.ops.size(); ++op) {
    first_place_.push_back(u32(places_.size()));
    for (const Variant& variant : c_.ops[op].variants) {
      const bool touches = touches_state(c_, variant);
      u32& next = touches ? with_state[c_.graph.ops[op].lane.value_or(0)] : without;
      places_.push_back({touches, next++});
    }
  }
}

u64 WorkingMemory::bytes() const {
  u64 sum = arena_buffer_.size() + faults_.size() + staging_.size();
  for (const gpu::Buffer& pool : pools_) sum += pool.size();
  return sum;
}

Status WorkingMemory::write(gpu::Id buffer, u64 offset, Bytes bytes) {
  TRY_DO(device_.write(buffer, offset, bytes));
  uploaded_ += bytes.size();
  return {};
}

Status WorkingMemory::upload(std::span<const HostInput> inputs) {
  uploaded_ = 0;
  for (u32 i = 0; i < inputs.size(); ++i) {
    const ValueId id = c_.graph.inputs[i];
    const Storage& storage = c_.storage[id];
    if (storage.kind != StorageKind::input && storage.kind != StorageKind::transient) continue;
    const DType to = c_.facts.dtype[id];
    const u64 bytes = inputs[i].shape.numel() * size_of(to), padded = (bytes + 3) / 4 * 4;
    if (bytes == 0) continue;
    const bool small = storage.kind == StorageKind::input;
    const MutableBytes target = small ? arena_.open(storage.at.offset, padded) : MutableBytes(large_).first(padded);
    std::fill(target.begin() + std::ptrdiff_t(bytes), target.end(), std::byte(0));
    TRY_DO(within(convert(inputs[i].bytes, inputs[i].dtype, target.first(bytes), to), "input ", i));
    if (!small) TRY_DO(write(pools_[storage.at.pool].id(), storage.at.offset, target));
  }
  if (arena_.changed().empty()) return {};
  TRY_DO(write(arena_buffer_.id(), arena_.changed_at(), arena_.changed()));
  arena_.settle();
  return {};
}

Status WorkingMemory::bind(State& state, u32 lane) {
  if (c_.states.empty() || state.bound_to(identities_[lane])) return {};
  TRY(auto groups, bind_groups(&state, lane));
  state.keep_bound(identities_[lane], std::move(groups));
  return {};
}

u64 WorkingMemory::bound_id(const State& state, u32 lane) const {
  const State::Bound* bound = state.bound_to(identities_[lane]);
  return bound ? bound->id : state.id();
}

// Of the variants with the state of a lane, or of those without state.
Result<std::vector<gpu::BindGroup>> WorkingMemory::bind_groups(const State* state, u32 lane) const {
  std::vector<gpu::BindGroup> out;
  for (u32 op = 0; op < c_.ops.size(); ++op) {
    if (state && c_.graph.ops[op].lane.value_or(0) != lane) continue;
    for (u32 i = 0; i < c_.ops[op].variants.size(); ++i) {
      if (places_[first_place_[op] + i].with_state != (state != nullptr)) continue;
      const Variant& variant = c_.ops[op].variants[i];
      auto made =
          within(bind(op, variant, loaded_->pipelines[variant.pipeline]->id(), state), describe(c_.graph.ops[op]));
      if (!made) return Failure(std::move(made.error()));
      out.push_back(*std::move(made));
    }
  }
  return out;
}

Result<gpu::BindGroup> WorkingMemory::bind(u32 op, const Variant& variant, gpu::Id pipeline, const State* state) const {
  std::array<gpu::BindingRange, 16> ranges;
  ranges[0] = {arena_buffer_.id(), 0, slot_bytes};
  for (size_t i = 0; i < variant.operands.size(); ++i) {
    TRY(const Range range, locate(op, variant.operands[i], state));
    ranges[i + 1] = {range.buffer, range.offset, range.size};
  }
  return device_.create_bind_group(pipeline, std::span(ranges).first(variant.operands.size() + 1),
                                   variant.kernel.source().name);
}

Result<gpu::Dispatch> WorkingMemory::resolve(const PlannedDispatch& planned, Lanes lanes) {
  const auto& variants = c_.ops[planned.op].variants;
  const u32 lane = c_.graph.ops[planned.op].lane.value_or(0);
  const State& state = *lanes[lane];
  gpu::Dispatch out;
  if (planned.number < variants.size()) {
    const Group at = places_[first_place_[planned.op] + planned.number];
    const auto& groups = at.with_state ? state.bound_to(identities_[lane])->groups : groups_;
    out.pipeline = loaded_->pipelines[variants[planned.number].pipeline]->id();
    out.bind_group = groups[at.index].id();
  } else {
    TRY(out, resolve_late(planned.op, *planned.variant, state));
  }
  out.params_offset = planned.params_offset;
  out.x = planned.x;
  out.y = planned.y;
  return out;
}

// A route that the survey did not visit. It works, but costs a compilation in the middle of a step; tests count these.
Result<gpu::Dispatch> WorkingMemory::resolve_late(u32 op, const Variant& variant, const State& state) {
  auto late = std::ranges::find(late_, &variant, &Late::variant);
  if (late == late_.end()) {
    Late added{&variant, nullptr, 0, {}};
    const gpu::PipelineSpec spec = assemble(variant.kernel);
    added.pipeline = loaded_->context->find(spec.source);
    if (!added.pipeline) {
      TRY(auto pipeline, device_.compile_now(spec));
      added.pipeline = loaded_->context->add(spec.source, std::move(pipeline));
    }
    late = late_.insert(late_.end(), std::move(added));
  }
  if (late->state != state.id()) {
    TRY(late->group, bind(op, variant, late->pipeline->id(), &state));
    late->state = state.id();
  }
  return gpu::Dispatch{late->pipeline->id(), late->group.id()};
}

Result<WorkingMemory::Range> WorkingMemory::locate(u32 op, const Operand& operand, const State* state) const {
  switch (operand.kind) {
    case Operand::fault: return Range{faults_.id(), 0, faults_.size()};
    case Operand::packed: return locate_constant(operand.index, operand.offset, operand.size);
    case Operand::scratch: {
      const Placement at = c_.ops[op].scratch_at[operand.index];
      const u64 bytes = (c_.ops[op].scratch[operand.index] + 15) / 16 * 16;
      return Range{pools_[at.pool].id(), at.offset, std::max<u64>(bytes + c_.guard_size, 16)};
    }
    case Operand::tensor: break;
  }
  const Storage& storage = c_.storage[c_.facts.effects.memory(operand.index)];
  if (storage.kind == StorageKind::constant) return locate_constant(storage.index, operand.offset, operand.size);
  Range range = locate(operand.index, state);
  if (range.buffer == 0) return internal_error("value ", operand.index, " has no memory");
  if (operand.size > 0) range.offset += operand.offset, range.size = operand.size;
  return range;
}

Result<WorkingMemory::Range> WorkingMemory::locate_constant(u32 index, u64 offset, u64 size) const {
  const GpuConstant& constant = *loaded_->constants[index];
  if (size == 0 && constant.pieces.size() == 1)
    return Range{constant.pieces[0].buffer.id(), 0, constant.pieces[0].buffer.size()};
  for (const GpuConstant::Piece& piece : constant.pieces)
    if (offset >= piece.offset && offset + size <= piece.offset + piece.buffer.size() && size > 0)
      return Range{piece.buffer.id(), offset - piece.offset, size};
  return internal_error("bytes ", offset, " to ", offset + size, " of a constant lie in no one buffer");
}

WorkingMemory::Range WorkingMemory::locate(ValueId id, const State* state) const {
  const Storage& storage = c_.storage[c_.facts.effects.memory(id)];
  switch (storage.kind) {
    case StorageKind::none: return {};
    case StorageKind::input: return {arena_buffer_.id(), storage.at.offset, storage.bytes};
    case StorageKind::transient:
      if (const Tensor& tensor = *c_.graph.tensor(id); tensor.part)
        return {pools_[storage.at.pool].id(), storage.at.offset + tensor.part->offset, part_bytes(c_, id)};
      return {pools_[storage.at.pool].id(), storage.at.offset, storage.bytes + c_.guard_size};
    case StorageKind::state:
      if (!state) return {};
      return whole(state->buffer(u32(storage.index % (c_.states.size() / c_.graph.lanes))));
    case StorageKind::constant: return {loaded_->constants[storage.index]->pieces[0].buffer.id(), 0, storage.bytes};
  }
  return {};
}

}  // namespace pteron::graph
