// SPDX-License-Identifier: BSD-3-Clause
#include "graph/work.h"

#include <algorithm>

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

// Of products. Each result of a matrix product takes its depth; of attention, whose results are no rows times columns,
// its columns, which are the keys.
u64 operations_of(const Planner& planner, u32 op, const Variant& variant) {
  const RouteShape* product = planner.product(op);
  if (!product) return 0;
  u64 results = 0;
  for (size_t i = 0; i < variant.operands.size(); ++i)
    if (variant.operands[i].kind == Operand::tensor && variant.kernel.bindings()[i + 1] == gpu::BindingKind::read_write)
      results += planner.live().shape[variant.operands[i].index].numel();
  const u64 plane = std::max<u64>(u64(product->rows) * product->columns, 1);
  return 2 * results * (results % plane == 0 ? product->depth : product->columns);
}

}  // namespace

f64 modelled_seconds(const Planner& planner, u32 op, const Variant& variant) {
  f64 bytes = 0;
  for (const Operand& operand : variant.operands) bytes += f64(bytes_of(planner, op, operand));
  return bytes / bytes_per_second + f64(operations_of(planner, op, variant)) / operations_per_second;
}

}  // namespace pteron::graph
