// SPDX-License-Identifier: BSD-3-Clause
#include "graph/effects.h"

#include "graph/op.h"

#include <algorithm>

namespace pteron::graph {
namespace {

void add(const Graph& graph, std::vector<Use>& out, ValueId id, Role role) {
  const Value& value = graph.values[id];
  if (const auto* list = std::get_if<ValueList>(&value)) {
    for (ValueId item : list->items) add(graph, out, item, role);
  } else if (std::holds_alternative<Tensor>(value)) {
    out.push_back({id, role});
  } else if (std::holds_alternative<SymInt>(value)) {
    out.push_back({id, role == Role::out ? role : Role::shape});
  }
}

}  // namespace

std::vector<Use> uses_of(const Graph& graph, const Op& op) {
  std::vector<Use> out;
  for (size_t i = 0; i < op.args.size(); ++i) {
    const bool last = i + 1 == op.args.size();
    // Of an op that the engine lacks it is only known that the result comes last.
    add(graph, out, op.args[i], op.entry ? op.entry->signature.params[i].role : last ? Role::out : Role::in);
  }
  return out;
}

Effects::Effects(const Graph& graph) {
  std::vector<ValueId> of_constant(graph.constants.size(), no_value);
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    memory_.push_back(id);
    const Tensor* tensor = graph.tensor(id);
    if (tensor && tensor->part) memory_[id] = tensor->part->of;
    if (!tensor || !tensor->constant) continue;
    ValueId& first = of_constant[*tensor->constant];
    if (first == no_value) first = id;
    memory_[id] = first;
  }
  touching_.resize(graph.values.size());
  ops_.resize(graph.ops.size());
  for (u32 op = 0; op < graph.ops.size(); ++op) replace(graph, op);
}

void Effects::replace(const Graph& graph, u32 op) {
  remove(op);
  ops_[op] = uses_of(graph, graph.ops[op]);
  for (const Use& use : ops_[op]) {
    std::vector<u32>& list = touching_[memory_[use.value]];
    const auto at = std::ranges::lower_bound(list, op);
    if (at == list.end() || *at != op) list.insert(at, op);
  }
}

void Effects::remove(u32 op) {
  for (const Use& use : ops_[op]) std::erase(touching_[memory_[use.value]], op);
  ops_[op].clear();
}

void Effects::share(u32 op, ValueId from, ValueId to) {
  remove(op);
  const ValueId shared = memory_[from], old = memory_[to];
  for (ValueId& memory : memory_)
    if (memory == old) memory = shared;
  std::vector<u32> all;
  std::ranges::set_union(touching_[shared], touching_[old], std::back_inserter(all));
  touching_[shared] = std::move(all);
  touching_[old].clear();
}

bool Effects::any_of(u32 op, ValueId id, bool (Use::*is)() const) const {
  return std::ranges::any_of(ops_[op], [&](const Use& a) { return memory_[a.value] == memory_[id] && (a.*is)(); });
}

u32 Effects::writers(ValueId id) const {
  return u32(std::ranges::count_if(touching(id), [&](u32 op) { return writes(op, id); }));
}

bool Effects::is_fixed(const Graph& graph, ValueId id) const {
  const Tensor* tensor = graph.tensor(id);
  return tensor && tensor->constant && writers(id) == 0;
}

}  // namespace pteron::graph
