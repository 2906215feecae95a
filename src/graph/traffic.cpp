// SPDX-License-Identifier: BSD-3-Clause
#include "graph/report.h"

#include <algorithm>
#include <deque>
#include <map>

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

  // Returns how many elements are written, as far as they are those of tensors.
  u64 add(u32 op, const Variant& variant) {
    u64 elements = 0;
    const bool partial = looks_up(c_, op);
    u64 largest = 0;  // of the live tensors: stands for scratch memory and for rows that are looked up or written
    for (const Operand& o : variant.operands)
      if (storage_of(o) == StorageKind::transient || storage_of(o) == StorageKind::input)
        largest = std::max(largest, live_bytes(c_, live_, o.index));
    for (size_t i = 0; i < variant.operands.size(); ++i) {
      const Operand& o = variant.operands[i];
      const bool written = variant.kernel.bindings()[i + 1] == gpu::BindingKind::read_write;
      if (written && o.kind == Operand::tensor) elements += live_.shape[o.index].numel();
      switch (storage_of(o)) {
        case StorageKind::constant: add_constant(o, partial ? largest : UINT64_MAX); break;
        case StorageKind::state:
          add_state(c_.storage[c_.facts.effects.memory(o.index)].index,
                    variant.kernel.reads(u32(i) + 1) ? UINT64_MAX : largest);
          break;
        case StorageKind::transient:
        case StorageKind::input: out_.activations += live_bytes(c_, live_, o.index); break;
        case StorageKind::none: out_.activations += o.kind == Operand::scratch ? largest : 0; break;
      }
    }
    return elements;
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

constexpr u64 most_read = 4096;  // elements of an input that plans may look at

// A GPU of 32 units that run four workgroups each is a small one today. What is over in a few microseconds is not worth
// a word.
std::string warning_for(const DispatchCost& cost) {
  constexpr u64 units = 32, busy_bytes = 256 << 10, busy_operations = 4 << 20;
  if (cost.bytes < busy_bytes && cost.operations < busy_operations) return {};
  if (cost.workgroups < units)
    return str("few workgroups: ", cost.workgroups, " leave ", units - cost.workgroups, " of ", units, " units idle");
  const u64 rounds = (cost.workgroups + units - 1) / units, idle = rounds * units - cost.workgroups;
  if (rounds <= 4 && idle * 4 > rounds * units)
    return str("uneven tail: in the last of ", rounds, " rounds ", idle, " of ", units, " units are idle");
  return {};
}

}  // namespace

std::vector<DispatchCost> costs_of(const CompiledGraph& c, const Planner& planner, u32 positions) {
  std::vector<DispatchCost> out;
  std::map<const Variant*, u32> threads;
  Tally tally(c, planner.live(), positions);
  for (u32 op = 0; op < c.ops.size(); ++op) {
    const auto dispatches = planner.dispatches(op);
    for (size_t i = 0; i < dispatches.size() && !c.ops[op].is_constant; ++i) {
      const Variant& variant = *dispatches[i].variant;
      const u64 before = tally.total().total();
      const u64 written = tally.add(op, variant);
      if (!threads.contains(&variant)) threads[&variant] = threads_of(variant.kernel);
      const u64 noted = planner.operations(op)[i];
      DispatchCost cost{.op = c.graph.ops[op].name,
                        .kernel = std::string(variant.kernel.source().name),
                        .route = planner.route(op),
                        .workgroups = u64(dispatches[i].x) * dispatches[i].y,
                        .threads = threads[&variant],
                        .bytes = tally.total().total() - before,
                        .operations = noted > 0 ? noted : written,
                        .warning = {}};
      cost.warning = warning_for(cost);
      out.push_back(std::move(cost));
    }
  }
  return out;
}

Result<std::vector<DispatchCost>> foretell_costs(const CompiledGraph& c, u32 tokens, u32 context) {
  const bool decodes = std::ranges::any_of(c.states, [](const StateUse& use) { return use.cache_axis.has_value(); });
  std::deque<std::vector<std::byte>> contents;
  std::vector<HostInput> inputs;
  for (ValueId id : c.graph.inputs) {
    HostInput& input = inputs.emplace_back();
    const Tensor* tensor = c.graph.tensor(id);
    if (!tensor) {
      input.number = decodes ? context : 1;
      continue;
    }
    if (!is_float(tensor->dtype)) input.dtype = DType::i64;
    input.shape = tensor->max;
    if (decodes && c.facts.varies[id])
      for (u32 axis = 0; axis < input.shape.rank(); ++axis) {
        if (input.shape[axis] <= 1) continue;
        if (tokens == 0 || tokens > input.shape[axis])
          return invalid("a step of ", tokens, " tokens: the program takes 1 to ", input.shape[axis]);
        input.shape[axis] = tokens;
      }
    // Plans read positions, which come in small tensors.
    std::vector<i64> numbers(std::min<u64>(input.shape.numel(), most_read), decodes ? context : 0);
    const Bytes bytes = std::as_bytes(std::span(numbers));
    input.bytes = contents.emplace_back(bytes.begin(), bytes.end());
  }
  Arena arena(c.memory.arena);
  Planner planner(c, arena);
  TRY_DO(planner.plan(inputs));
  return costs_of(c, planner, decodes ? tokens + context : UINT32_MAX);
}

MemoryTraffic traffic_of(const Runner& runner, u32 positions) {
  Tally tally(runner.compiled(), runner.planner().live(), positions);
  for (const Flight::Work& work : runner.flight().work()) tally.add(work.op, *work.variant);
  return tally.total();
}

}  // namespace pteron::graph
