// SPDX-License-Identifier: BSD-3-Clause
#include "graph/report.h"

#include <algorithm>

namespace pteron::graph {
namespace {

// By an index, or by a position: a table of angles, say.
bool looks_up(const CompiledGraph& c, u32 op) {
  const auto is_of = [op](const auto& entry) { return entry.op == op; };
  const auto is_position = [&](ValueId id) {
    return c.facts.varies[id] && std::holds_alternative<SymInt>(c.graph.values[id]);
  };
  return std::ranges::any_of(c.index_checks, is_of) || std::ranges::any_of(c.faults, is_of) ||
         std::ranges::any_of(c.ops[op].reads, is_position);
}

u64 live_bytes(const CompiledGraph& c, const LiveValues& live, ValueId id) {
  return live.shape[id].numel() * size_of(c.facts.dtype[id]);
}

u64 used_bytes(const CompiledGraph& c, const StateUse& use, u32 positions) {
  if (!use.cache_axis) return use.bytes;
  const u64 capacity = std::max(c.graph.tensor(use.value)->max[*use.cache_axis], 1u);
  return use.bytes * std::min<u64>(positions, capacity) / capacity;
}

// Adds up a step. What is seen for the first time is what the step needs in any case.
class Tally {
 public:
  Tally(const CompiledGraph& c, const LiveValues& live, u32 positions)
      : c_(c), live_(live), positions_(positions), constant_seen_(c.constants.size()), state_seen_(c.states.size()) {}

  void add(u32 op, const Variant& variant) {
    const bool partial = looks_up(c_, op);
    u64 largest = 0;  // of the live tensors: stands for scratch memory and for rows that are looked up or written
    for (const Operand& o : variant.operands)
      if (storage_of(o) == StorageKind::transient || storage_of(o) == StorageKind::input)
        largest = std::max(largest, live_bytes(c_, live_, o.index));
    for (size_t i = 0; i < variant.operands.size(); ++i) {
      const Operand& o = variant.operands[i];
      const bool written = variant.kernel.bindings()[i + 1] == gpu::BindingKind::read_write;
      switch (storage_of(o)) {
        case StorageKind::constant: add_constant(o, partial ? largest : UINT64_MAX); break;
        case StorageKind::state:
          add_state(c_.storage[c_.facts.effects.memory(o.index)].index, written ? largest : UINT64_MAX);
          break;
        case StorageKind::transient:
        case StorageKind::input: out_.activations += live_bytes(c_, live_, o.index); break;
        case StorageKind::none: out_.activations += o.kind == Operand::scratch ? largest : 0; break;
      }
    }
  }

  const MemoryTraffic& total() const { return out_; }

 private:
  StorageKind storage_of(const Operand& o) const {
    if (o.kind == Operand::packed) return StorageKind::constant;
    return o.kind == Operand::tensor ? c_.storage[c_.facts.effects.memory(o.index)].kind : StorageKind::none;
  }

  void add_constant(const Operand& o, u64 limit) {
    const u32 index = o.kind == Operand::packed ? o.index : c_.storage[c_.facts.effects.memory(o.index)].index;
    const u64 bytes = std::min(o.size > 0 ? o.size : c_.constants[index].bytes, limit);
    out_.weights += bytes;
    const u64 left = c_.constants[index].bytes - constant_seen_[index];
    constant_seen_[index] += std::min(bytes, left);
    out_.needed += std::min(bytes, left);
  }

  void add_state(u32 index, u64 limit) {
    const u64 bytes = std::min(used_bytes(c_, c_.states[index], positions_), limit);
    out_.state += bytes;
    const u64 left = used_bytes(c_, c_.states[index], positions_) - state_seen_[index];
    state_seen_[index] += std::min(bytes, left);
    out_.needed += std::min(bytes, left);
  }

  const CompiledGraph& c_;
  const LiveValues& live_;
  u32 positions_;
  std::vector<u64> constant_seen_, state_seen_;  // bytes, by index
  MemoryTraffic out_;
};

}  // namespace

MemoryTraffic traffic_of(const Runner& runner, u32 positions) {
  Tally tally(runner.compiled(), runner.planner().live(), positions);
  for (const Flight::Work& work : runner.flight().work()) tally.add(work.op, *work.variant);
  return tally.total();
}

}  // namespace pteron::graph
