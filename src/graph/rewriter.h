// SPDX-License-Identifier: BSD-3-Clause
// What passes need to look at a graph, and the only way in which they change it. What would let an op see other
// contents than before is refused, so a pass can be incomplete, but not wrong.
#pragma once

#include "graph/effects.h"

namespace pteron::graph {

class Rewriter {
 public:
  explicit Rewriter(Graph& graph) : graph_(graph), effects_(graph), removed_(graph.ops.size(), 0) {}

  // --- what there is
  const Graph& graph() const { return graph_; }
  u32 size() const { return u32(graph_.ops.size()); }
  const Op& op(u32 index) const { return graph_.ops[index]; }
  const Tensor* tensor(ValueId id) const { return graph_.tensor(id); }
  // The op if it is there and has this name.
  const Op* find(std::optional<u32> op, std::string_view name) const;
  bool is_removed(u32 op) const { return removed_[op] != 0; }
  bool is_null(ValueId id) const { return std::holds_alternative<std::monostate>(graph_.values[id]); }
  std::optional<i64> integer(ValueId id) const;
  std::optional<f64> number(ValueId id) const;
  std::span<const ValueId> list(ValueId id) const;

  // The op that makes a value, or nothing for inputs, constants and what several ops write.
  std::optional<u32> producer(ValueId id) const;
  // How often ops read a value, also inside of lists; a graph output counts as one more. Counted up to `many`.
  static constexpr u32 many = 4;
  u32 uses(ValueId id) const;
  // Ops that read a value, in order.
  std::vector<u32> readers(ValueId id) const;
  // True if a value's bytes never change.
  bool is_fixed(ValueId id) const { return effects_.is_fixed(graph_, id); }
  // True if an op is a copy (view, clone, …) that changes nothing but the shape.
  bool is_copy(u32 op) const;

  // A value, and the copies that were followed from another one back to it.
  struct Source {
    ValueId value;
    std::vector<u32> copies;
  };
  // Follows views and copies back to what they copy and nobody updates, so that it is the same wherever it is read.
  Source source(ValueId id) const;
  // Follows those whose result only the next one reads: they could be absorbed.
  Source private_source(ValueId id) const;

  // --- changes
  ValueId add(Value value);
  Op make(std::string_view name, std::vector<ValueId> args, const Op& place) const;
  // Puts `with` in the place of op `at`. It does the work of the ops `absorbed` (`at` is among them), which go, and
  // once more that of `repeated`, which go if nobody else wants their results. False, and nothing happens, if an op in
  // between writes what these read or has to do with what they write, if a result that goes is needed, or if one held
  // integers that were made of real numbers: a fused op does not round in between.
  bool fuse(u32 at, Op with, std::span<const u32> absorbed, std::span<const u32> repeated = {});
  // Puts `maker` and `reader` in the places of two ops, of which the second, perhaps through copies, is the only one
  // that reads what the first makes. They do what these did, but may leave results undone and hand `form` on instead, a
  // value that nobody else knows. False, and nothing happens, if that is not so.
  bool hand_on(ValueId form, u32 from, Op maker, u32 to, Op reader);
  // Could the op be executed at the place of another one?
  bool can_move(u32 op, u32 to) const { return can_move(op, to, {}); }
  // False if somebody wants its results or it updates something.
  bool remove(u32 op);
  // Lets go of the ops that are removed; those behind them get other numbers.
  void commit();

 private:
  bool is_made_outside(ValueId id) const;
  bool is_stable(ValueId id) const;
  bool is_wanted(ValueId id, std::span<const u32> besides) const;
  bool only_reaches(ValueId id, u32 from, u32 to) const;
  std::optional<u32> copy_behind(ValueId id, u32 before) const;
  bool can_move(u32 op, u32 to, std::span<const u32> together) const;
  bool can_repeat(u32 op, u32 at) const;
  bool rounds(u32 op, std::span<const Use> with) const;
  bool does_the_same(std::span<const Use> with, std::span<const u32> absorbed, std::span<const u32> repeated) const;

  Graph& graph_;
  Effects effects_;
  std::vector<u8> removed_;
};

}  // namespace pteron::graph
