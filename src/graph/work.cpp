// SPDX-License-Identifier: BSD-3-Clause
#include "graph/work.h"

namespace pteron::graph {
namespace {

constexpr f64 bytes_per_second = 10e9, operations_per_second = 50e9;

u64 constant_bytes(const CompiledGraph& c, u32 index, const Operand& operand) {
  return operand.size > 0 ? operand.size : c.constants[index].bytes;
}

u64 bytes_of(const Planner& planner, u32 op, const Operand& operand) {
  const CompiledGraph& c = planner.compiled();
  if (operand.kind == Operand::packed) return constant_bytes(c, operand.index, operand);
  if (operand.kind == Operand::scratch) return c.ops[op].scratch[operand.index];
  if (operand.kind != Operand::tensor) return 0;
  const Storage& storage = c.storage[c.facts.effects.memory(operand.index)];
  if (storage.kind == StorageKind::constant) return constant_bytes(c, storage.index, operand);
  if (storage.kind == StorageKind::state && c.states[storage.index].position_bytes > 0)
    return planner.positions()[storage.index] * c.states[storage.index].position_bytes;
  return planner.live().shape[operand.index].numel() * size_of(c.facts.dtype[operand.index]);
}

}  // namespace

f64 modelled_seconds(const Planner& planner, u32 op, size_t number) {
  f64 bytes = 0;
  for (const Operand& operand : planner.dispatches(op)[number].variant->operands)
    bytes += f64(bytes_of(planner, op, operand));
  return bytes / bytes_per_second + f64(planner.operations(op)[number]) / operations_per_second;
}

}  // namespace pteron::graph
