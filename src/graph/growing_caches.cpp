// SPDX-License-Identifier: BSD-3-Clause
// A conversation takes the memory that it needs: caches start with room for a few positions and grow by an eighth when
// a step goes beyond them, up to what the program allows. Copying them is then never more than a small part of the
// work.
#include "graph/instance.h"

#include <algorithm>
#include <bit>

namespace pteron::graph {
namespace {

constexpr u64 least_step = 256;

u64 room_for(u64 positions) {
  const u64 step = std::max(std::bit_ceil(positions) / 8, least_step);
  return std::max((positions + step - 1) / step, u64(1)) * step;
}

}  // namespace

u64 Instance::bytes_for(u32 state, u64 positions) const {
  const StateUse& use = c_.states[state];
  // What the file has for later positions would be lost.
  if (use.position_bytes == 0 || loaded_->initial_states[state]) return use.bytes;
  return std::min(use.bytes, room_for(positions) * use.position_bytes);
}

void Instance::use_cache(ValueId id, u32, u64 positions, bool) {
  const Storage& storage = c_.storage[c_.facts.effects.memory(id)];
  if (storage.kind == StorageKind::state)
    wanted_positions_[storage.index] = std::max(wanted_positions_[storage.index], positions);
}

bool Instance::caches_are_short() const {
  for (u32 i = 0; i < states_.size(); ++i)
    if (bytes_for(i, wanted_positions_[i]) > states_[i].size()) return true;
  return false;
}

// Buffers that could be had are used, also if one could not.
Status Instance::grow_caches() {
  Status status;
  std::vector<u8> grown(states_.size(), 0);
  for (u32 i = 0; i < states_.size() && status; ++i) {
    const u64 bytes = bytes_for(i, wanted_positions_[i]);
    if (bytes <= states_[i].size()) continue;
    auto larger = device_.create_buffer(bytes, gpu::BufferUse::gpu, str("state of value ", c_.states[i].value));
    if (!larger) {
      status = Failure(std::move(larger.error()).within("the caches need more memory for this position"));
      break;
    }
    const gpu::Copy copy{states_[i].id(), 0, larger->id(), 0, states_[i].size()};
    const gpu::Fill fill{larger->id(), states_[i].size(), bytes - states_[i].size()};
    gpu::Submission submission;
    submission.fills = std::span(&fill, 1);
    submission.copies_before = std::span(&copy, 1);
    status = device_.submit(submission);
    if (!status) break;
    states_[i] = *std::move(larger);
    grown[i] = 1;
  }
  ahead_ = {};  // was recorded with the old buffers
  for (u32 op = 0; op < c_.ops.size(); ++op) {
    const auto uses_grown = [&](const Variant& variant) {
      return std::ranges::any_of(variant.operands, [&](const Operand& operand) {
        if (operand.kind != Operand::tensor) return false;
        const Storage& storage = c_.storage[c_.facts.effects.memory(operand.index)];
        return storage.kind == StorageKind::state && grown[storage.index];
      });
    };
    if (std::ranges::any_of(c_.ops[op].variants, uses_grown)) TRY_DO(rebind(op));
  }
  return status;
}

Status Instance::rebind(u32 op) {
  std::erase_if(late_, [&](const Late& late) { return late.op == op; });
  for (size_t i = 0; i < c_.ops[op].variants.size(); ++i) {
    const Variant& variant = c_.ops[op].variants[i];
    TRY(records_[op].groups[i], bind(op, variant, loaded_->pipelines[variant.pipeline]->id()));
  }
  records_[op].stale = true;
  return {};
}

}  // namespace pteron::graph
