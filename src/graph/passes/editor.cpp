// SPDX-License-Identifier: BSD-3-Clause
#include "graph/passes/editor.h"

#include "graph/op.h"

#include <algorithm>

namespace pteron::graph {

Editor::Editor(Graph& graph) : graph_(graph) { index(); }

template <class Fn>
void Editor::each_input(const Op& op, Fn fn) const {
  for (size_t i = 0; i + 1 < op.args.size(); ++i) {
    fn(op.args[i]);
    if (const auto* items = std::get_if<ValueList>(&graph_.values[op.args[i]]))
      for (ValueId id : items->items) fn(id);
  }
}

template <class Fn>
void Editor::each_output(const Op& op, Fn fn) const {
  if (op.args.empty()) return;
  if (const auto* items = std::get_if<ValueList>(&graph_.values[op.args.back()]))
    for (ValueId id : items->items) fn(id);
  else
    fn(op.args.back());
}

void Editor::index() {
  const size_t count = graph_.values.size();
  producer_.assign(count, std::nullopt);
  writers_.assign(count, 0);
  uses_.assign(count, 0);
  removed_.assign(graph_.ops.size(), 0);
  for (u32 i = 0; i < graph_.ops.size(); ++i) {
    each_input(graph_.ops[i], [&](ValueId id) { ++uses_[id]; });
    each_output(graph_.ops[i], [&](ValueId id) {
      producer_[id] = i;
      ++writers_[id];
    });
  }
  for (ValueId id : graph_.outputs) ++uses_[id];
}

std::optional<u32> Editor::producer(ValueId id) const {
  const Tensor* t = tensor(id);
  if (writers_[id] != 1 || (t && t->constant) || graph_.is_input(id)) return std::nullopt;
  return producer_[id];
}

bool Editor::is_stable(ValueId id) const {
  const Tensor* t = tensor(id);
  const bool made_outside = (t && t->constant) || graph_.is_input(id);
  return writers_[id] <= (made_outside ? 0u : 1u);
}

std::vector<u32> Editor::readers(ValueId id) const {
  std::vector<u32> out;
  for (u32 i = 0; i < graph_.ops.size(); ++i) {
    bool reads = false;
    each_input(graph_.ops[i], [&](ValueId input) { reads |= input == id; });
    if (reads) out.push_back(i);
  }
  return out;
}

bool Editor::is_copy(u32 index) const {
  const Op& op = graph_.ops[index];
  if (!op.entry || !op.entry->copies || op.args.size() < 2) return false;
  const Tensor *from = tensor(op.args.front()), *to = tensor(op.args.back());
  return from && to && from->dtype == to->dtype && from->max.numel() == to->max.numel();
}

std::optional<u32> Editor::copy_behind(ValueId id, u32 before) const {
  const auto op = producer(id);
  // A broken file may copy in circles; a source is always made earlier.
  return op && *op < before && is_copy(*op) ? op : std::nullopt;
}

ValueId Editor::source(ValueId id) const {
  u32 before = UINT32_MAX;
  while (const auto op = copy_behind(id, before)) {
    id = graph_.ops[*op].args.front();
    before = *op;
  }
  return id;
}

ValueId Editor::private_source(ValueId id) const {
  u32 before = UINT32_MAX;
  while (uses_[id] == 1) {
    const auto op = copy_behind(id, before);
    if (!op) return id;
    id = graph_.ops[*op].args.front();
    before = *op;
  }
  return id;
}

const Op* Editor::tensor_op(std::optional<u32> index, std::string_view name, u32 arity) const {
  if (!index || is_removed(*index)) return nullptr;
  const Op& op = graph_.ops[*index];
  return op.name == name && op.args.size() == arity && tensor(op.args.front()) && tensor(op.args.back()) ? &op
                                                                                                         : nullptr;
}

std::optional<i64> Editor::integer(ValueId id) const {
  const auto value = number(id);
  if (!value || f64(i64(*value)) != *value) return std::nullopt;
  return i64(*value);
}

std::optional<f64> Editor::number(ValueId id) const {
  if (const auto* i = std::get_if<i64>(&graph_.values[id])) return f64(*i);
  if (const auto* d = std::get_if<f64>(&graph_.values[id])) return *d;
  return std::nullopt;
}

std::span<const ValueId> Editor::list(ValueId id) const {
  if (const auto* items = std::get_if<ValueList>(&graph_.values[id])) return items->items;
  return {};
}

ValueId Editor::add(Value value) {
  graph_.values.push_back(std::move(value));
  producer_.push_back(std::nullopt);
  writers_.push_back(0);
  uses_.push_back(0);
  return ValueId(graph_.values.size() - 1);
}

Op Editor::make(std::string_view name, std::vector<ValueId> args, const Op& place) const {
  Op op;
  op.name = std::string(name);
  op.entry = find_op(name);
  op.args = std::move(args);
  op.position = place.position;
  op.node_id = place.node_id;
  return op;
}

void Editor::commit() {
  std::vector<Op> kept;
  for (u32 i = 0; i < graph_.ops.size(); ++i)
    if (!removed_[i]) kept.push_back(std::move(graph_.ops[i]));
  graph_.ops = std::move(kept);
  index();
}

void remove_dead_ops(Editor& editor) {
  bool again = true;
  while (again) {
    again = false;
    for (u32 i = 0; i < editor.ops().size(); ++i) {
      const Op& op = editor.ops()[i];
      if (!op.entry || op.entry->writes_arguments || op.args.empty()) continue;
      const ValueId last = op.args.back();
      const auto items = editor.list(last);
      const std::span<const ValueId> results = items.empty() ? std::span(&last, 1) : items;
      // A result that is a constant is a buffer updated in place, which the next call reads.
      const bool needed = std::any_of(results.begin(), results.end(), [&](ValueId id) {
        const Tensor* tensor = editor.tensor(id);
        return editor.uses(id) > 0 || (tensor && tensor->constant) || editor.graph().is_input(id);
      });
      if (needed) continue;
      editor.remove(i);
      again = true;
    }
    if (again) editor.commit();
  }
}

}  // namespace pteron::graph
