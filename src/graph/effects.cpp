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

// Into and out of a list of ops in order.
void put(std::vector<u32>& list, u32 op) {
  const auto at = std::ranges::lower_bound(list, op);
  if (at == list.end() || *at != op) list.insert(at, op);
}

void take(std::vector<u32>& list, u32 op) {
  const auto at = std::ranges::lower_bound(list, op);
  if (at != list.end() && *at == op) list.erase(at);
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
  writing_.resize(graph.values.size());
  ops_.resize(graph.ops.size());
  for (u32 op = 0; op < graph.ops.size(); ++op) replace(graph, op);
}

void Effects::replace(const Graph& graph, u32 op) {
  remove(op);
  ops_[op] = uses_of(graph, graph.ops[op]);
  for (const Use& use : ops_[op]) {
    put(touching_[memory_[use.value]], op);
    if (use.writes()) put(writing_[memory_[use.value]], op);
  }
}

void Effects::remove(u32 op) {
  for (const Use& use : ops_[op]) {
    take(touching_[memory_[use.value]], op);
    take(writing_[memory_[use.value]], op);
  }
  ops_[op].clear();
}

void Effects::share(u32 op, ValueId from, ValueId to) {
  remove(op);
  const ValueId shared = memory_[from], old = memory_[to];
  for (ValueId& memory : memory_)
    if (memory == old) memory = shared;
  for (auto* lists : {&touching_, &writing_}) {
    std::vector<u32> all;
    std::ranges::set_union((*lists)[shared], (*lists)[old], std::back_inserter(all));
    (*lists)[shared] = std::move(all);
    (*lists)[old].clear();
  }
}

bool Effects::any_of(u32 op, ValueId id, bool (Use::*is)() const) const {
  return std::ranges::any_of(ops_[op], [&](const Use& a) { return memory_[a.value] == memory_[id] && (a.*is)(); });
}

bool Effects::is_fixed(const Graph& graph, ValueId id) const {
  const Tensor* tensor = graph.tensor(id);
  return tensor && tensor->constant && writers(id) == 0;
}

}  // namespace pteron::graph
