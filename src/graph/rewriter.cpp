// SPDX-License-Identifier: BSD-3-Clause
#include "graph/rewriter.h"

#include "graph/op.h"

#include <algorithm>

namespace pteron::graph {
namespace {

bool contains(std::span<const u32> list, u32 item) { return std::ranges::find(list, item) != list.end(); }

// Of ops in order those from `first` on that come before `end`.
std::span<const u32> between(std::span<const u32> ops, u32 first, u32 end) {
  const auto from = std::ranges::lower_bound(ops, first);
  return {from, std::lower_bound(from, ops.end(), end)};
}

}  // namespace

const Op* Rewriter::find(std::optional<u32> op, std::string_view name) const {
  if (!op || is_removed(*op) || !graph_.ops[*op].entry) return nullptr;
  return graph_.ops[*op].entry->name == name ? &graph_.ops[*op] : nullptr;
}

std::optional<i64> Rewriter::integer(ValueId id) const {
  if (const auto* i = std::get_if<i64>(&graph_.values[id])) return *i;
  if (const auto* d = std::get_if<f64>(&graph_.values[id])) return exact_integer(*d);
  return std::nullopt;
}

std::optional<f64> Rewriter::number(ValueId id) const {
  if (const auto* i = std::get_if<i64>(&graph_.values[id])) return f64(*i);
  if (const auto* d = std::get_if<f64>(&graph_.values[id])) return *d;
  return std::nullopt;
}

std::span<const ValueId> Rewriter::list(ValueId id) const {
  if (const auto* items = std::get_if<ValueList>(&graph_.values[id])) return items->items;
  return {};
}

bool Rewriter::is_made_outside(ValueId id) const {
  const Tensor* t = tensor(id);
  return (t && t->constant) || graph_.is_input(id);
}

bool Rewriter::is_stable(ValueId id) const { return effects_.writers(id) <= (is_made_outside(id) ? 0u : 1u); }

std::optional<u32> Rewriter::producer(ValueId id) const {
  if (is_made_outside(id) || effects_.writers(id) != 1) return std::nullopt;
  return effects_.writing(id).front();
}

u32 Rewriter::uses(ValueId id) const {
  const ValueId memory = effects_.memory(id);
  size_t count = 0;
  for (u32 op : effects_.touching(id)) {
    count += size_t(std::ranges::count_if(effects_.of(op), [&](const Use& use) {
      return effects_.memory(use.value) == memory && use.role != Role::out;
    }));
    if (count >= many) return many;
  }
  for (ValueId output : graph_.outputs) count += effects_.memory(output) == memory;
  return u32(std::min<size_t>(count, many));
}

std::vector<u32> Rewriter::readers(ValueId id) const {
  std::vector<u32> out;
  for (u32 op : effects_.touching(id))
    if (effects_.reads(op, id)) out.push_back(op);
  return out;
}

bool Rewriter::is_copy(u32 index) const {
  const Op& op = graph_.ops[index];
  if (!op.entry || !op.entry->is(copies)) return false;
  const Tensor *from = tensor(op.args.front()), *to = tensor(op.args.back());
  return from->dtype == to->dtype && from->max.numel() == to->max.numel();
}

std::optional<u32> Rewriter::copy_behind(ValueId id, u32 before) const {
  const auto op = producer(id);
  // A broken file may copy in circles; a source is always made earlier.
  return op && *op < before && is_copy(*op) ? op : std::nullopt;
}

Rewriter::Source Rewriter::source(ValueId id) const {
  Source out{id, {}};
  while (const auto op = copy_behind(out.value, out.copies.empty() ? UINT32_MAX : out.copies.back())) {
    const ValueId from = graph_.ops[*op].args.front();
    if (!is_stable(from)) break;
    out.value = from;
    out.copies.push_back(*op);
  }
  return out;
}

Rewriter::Source Rewriter::private_source(ValueId id) const {
  Source out{id, {}};
  while (uses(out.value) == 1) {
    const auto op = copy_behind(out.value, out.copies.empty() ? UINT32_MAX : out.copies.back());
    if (!op) break;
    out.value = graph_.ops[*op].args.front();
    out.copies.push_back(*op);
  }
  return out;
}

ValueId Rewriter::add(Value value) {
  graph_.values.push_back(std::move(value));
  effects_.add_value();
  return ValueId(graph_.values.size() - 1);
}

Op Rewriter::make(std::string_view name, std::vector<ValueId> args, const Op& place) const {
  Op op;
  op.name = std::string(name);
  op.entry = find_op(name);
  op.args = std::move(args);
  op.position = place.position;
  op.node_id = place.node_id;
  return op;
}

// Ops that move together keep their order.
bool Rewriter::can_move(u32 op, u32 to, std::span<const u32> together) const {
  const u32 first = std::min(op, to) + 1, end = std::max(op, to);
  return std::ranges::all_of(effects_.of(op), [&](const Use& use) {
    const auto others = use.writes() ? effects_.touching(use.value) : effects_.writing(use.value);
    return std::ranges::all_of(between(others, first, end), [&](u32 other) { return contains(together, other); });
  });
}

// Would the op, later, find what it finds at its place? What updates something can't be done twice.
bool Rewriter::can_repeat(u32 op, u32 at) const {
  if (op >= at) return false;
  return std::ranges::all_of(effects_.of(op), [&](const Use& use) {
    if (use.writes()) return !use.updates();
    return between(effects_.writing(use.value), op + 1, at + 1).empty();
  });
}

bool Rewriter::is_wanted(ValueId id, std::span<const u32> besides) const {
  if (is_made_outside(id)) return true;
  const ValueId memory = effects_.memory(id);
  if (std::ranges::any_of(graph_.outputs, [&](ValueId output) { return effects_.memory(output) == memory; }))
    return true;
  return std::ranges::any_of(effects_.touching(id), [&](u32 op) { return !contains(besides, op); });
}

bool Rewriter::does_the_same(std::span<const Use> with, std::span<const u32> absorbed,
                             std::span<const u32> repeated) const {
  const auto touches = [&](u32 op, ValueId id) { return !between(effects_.touching(id), op, op + 1).empty(); };
  const auto any_touches = [&](std::span<const u32> ops, ValueId id) {
    return std::ranges::any_of(ops, [&](u32 op) { return touches(op, id); });
  };
  for (const Use& use : with) {
    const ValueId id = use.value;
    const auto writes = [&](u32 op) { return effects_.writes(op, id); };
    const auto first = std::ranges::find_if(absorbed, writes);
    if (use.writes()) {
      if (std::ranges::count_if(absorbed, writes) != 1) return false;
    } else if (!any_touches(absorbed, id) && !any_touches(repeated, id)) {
      return false;
    }
    // It reads all before it writes.
    if (use.role == Role::out || first == absorbed.end()) continue;
    if (std::ranges::any_of(absorbed, [&](u32 op) { return op > *first && effects_.reads(op, id); })) return false;
  }
  for (u32 op : absorbed)
    for (const Use& use : effects_.of(op)) {
      const auto is_it = [&](const Use& w) {
        return w.writes() && effects_.memory(w.value) == effects_.memory(use.value);
      };
      if (use.writes() && std::ranges::none_of(with, is_it) && is_wanted(use.value, absorbed)) return false;
    }
  return true;
}

// Does an op make integers of real numbers that `with` does not write? Conditions are exact.
bool Rewriter::rounds(u32 op, std::span<const Use> with) const {
  const auto holds = [&](const Use& use, bool real) {
    const Tensor* t = tensor(use.value);
    return t && t->dtype != DType::boolean && is_float(t->dtype) == real;
  };
  const auto stays = [&](const Use& use) {
    return std::ranges::any_of(with, [&](const Use& other) { return other.value == use.value && other.writes(); });
  };
  const std::span<const Use> uses = effects_.of(op);
  return std::ranges::any_of(uses, [&](const Use& use) { return use.reads() && holds(use, true); }) &&
         std::ranges::any_of(uses, [&](const Use& use) { return use.writes() && holds(use, false) && !stays(use); });
}

bool Rewriter::fuse(u32 at, Op with, std::span<const u32> absorbed, std::span<const u32> repeated) {
  std::vector<u32> ops(absorbed.begin(), absorbed.end());
  std::ranges::sort(ops);
  if (!contains(ops, at) || std::ranges::adjacent_find(ops) != ops.end()) return false;
  if (std::ranges::any_of(ops, [&](u32 op) { return is_removed(op) || !can_move(op, at, ops); })) return false;
  if (std::ranges::any_of(repeated, [&](u32 op) { return is_removed(op) || !can_repeat(op, at); })) return false;
  const std::vector<Use> uses = uses_of(graph_, with);
  const auto rounds_in_between = [&](u32 op) { return rounds(op, uses); };
  if (std::ranges::any_of(ops, rounds_in_between) || std::ranges::any_of(repeated, rounds_in_between)) return false;
  if (!does_the_same(uses, ops, repeated)) return false;
  for (u32 op : ops) {
    effects_.remove(op);
    removed_[op] = op != at;
  }
  graph_.ops[at] = std::move(with);
  effects_.replace(graph_, at);
  std::vector<u32> later(repeated.begin(), repeated.end());
  std::ranges::sort(later, std::greater<>());
  for (u32 op : later) remove(op);
  return true;
}

// Do a result of `from` and copies of it go nowhere but to `to`?
bool Rewriter::only_reaches(ValueId id, u32 from, u32 to) const {
  if (is_wanted(id, effects_.touching(id))) return false;
  return std::ranges::all_of(effects_.touching(id), [&](u32 op) {
    if (op == from || (op == to && !effects_.writes(op, id))) return true;
    return op > from && op < to && is_copy(op) && only_reaches(graph_.ops[op].args.back(), op, to);
  });
}

bool Rewriter::hand_on(ValueId form, u32 from, Op maker, u32 to, Op reader) {
  if (from >= to || is_removed(from) || is_removed(to)) return false;
  if (is_made_outside(form) || is_wanted(form, {})) return false;
  const auto does_the_same_besides = [&](const Op& op, u32 as, Role role) {
    std::vector<Use> uses = uses_of(graph_, op);
    const bool has_form = std::ranges::any_of(uses, [&](const Use& u) { return u.value == form && u.role == role; });
    std::erase_if(uses, [&](const Use& use) { return use.value == form; });
    return has_form && std::ranges::equal(uses, effects_.of(as), [](const Use& a, const Use& b) {
             return a.value == b.value && a.role == b.role;
           });
  };
  if (!does_the_same_besides(maker, from, Role::out) || !does_the_same_besides(reader, to, Role::in)) return false;
  for (const Use& use : effects_.of(from))
    if (use.role == Role::out && !only_reaches(use.value, from, to)) return false;
  graph_.ops[from] = std::move(maker);
  graph_.ops[to] = std::move(reader);
  effects_.replace(graph_, from);
  effects_.replace(graph_, to);
  return true;
}

bool Rewriter::remove(u32 op) {
  if (is_removed(op) || !graph_.ops[op].entry) return false;
  for (const Use& use : effects_.of(op))
    if (use.updates() || (use.writes() && is_wanted(use.value, std::span(&op, 1)))) return false;
  effects_.remove(op);
  removed_[op] = 1;
  return true;
}

void Rewriter::commit() {
  std::vector<Op> kept;
  for (u32 i = 0; i < graph_.ops.size(); ++i)
    if (!removed_[i]) kept.push_back(std::move(graph_.ops[i]));
  graph_.ops = std::move(kept);
  effects_ = Effects(graph_);
  removed_.assign(graph_.ops.size(), 0);
}

}  // namespace pteron::graph
