// SPDX-License-Identifier: BSD-3-Clause
// What passes need to look at a graph and change it: who produces a value, who uses it, new values and ops.
#pragma once

#include "graph/graph.h"

namespace pteron::graph {

class Editor {
 public:
  explicit Editor(Graph& graph);

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  std::vector<Op>& ops() { return graph_.ops; }
  const Tensor* tensor(ValueId id) const { return graph_.tensor(id); }

  // The op that makes a value, or nothing for inputs, constants and what several ops write.
  std::optional<u32> producer(ValueId id) const;
  // True if a value is the same wherever it is read: nobody updates it in place.
  bool is_stable(ValueId id) const;
  // How often ops read a value, also inside of lists; a graph output counts as one more.
  u32 uses(ValueId id) const { return uses_[id]; }
  // Ops that read a value, in order.
  std::vector<u32> readers(ValueId id) const;
  // Follows views and copies back to what they copy.
  ValueId source(ValueId id) const;
  // Like `source`, but only through values that nobody else reads: what stands between could be removed.
  ValueId private_source(ValueId id) const;
  // True if an op of this index is a copy (view, clone, …) that changes nothing but the shape.
  bool is_copy(u32 op) const;
  // An op by name and number of arguments, the first and the last of which are tensors; else nothing.
  const Op* tensor_op(std::optional<u32> index, std::string_view name, u32 arity) const;
  bool is_null(ValueId id) const { return std::holds_alternative<std::monostate>(graph_.values[id]); }
  std::optional<i64> integer(ValueId id) const;
  std::optional<f64> number(ValueId id) const;
  std::span<const ValueId> list(ValueId id) const;

  ValueId add(Value value);
  Op make(std::string_view name, std::vector<ValueId> args, const Op& place) const;

  // Marks an op for removal; `replace` puts another in its place. `commit` does it and brings the tables up to date.
  void remove(u32 op) { removed_[op] = 1; }
  void replace(u32 op, Op with) { graph_.ops[op] = std::move(with); }
  bool is_removed(u32 op) const { return removed_[op]; }
  void commit();

 private:
  void index();
  std::optional<u32> copy_behind(ValueId id, u32 before) const;
  template <class Fn>
  void each_input(const Op& op, Fn fn) const;
  template <class Fn>
  void each_output(const Op& op, Fn fn) const;

  Graph& graph_;
  std::vector<std::optional<u32>> producer_;
  std::vector<u32> writers_, uses_;
  std::vector<u8> removed_;
};

// Removes ops whose results nobody reads and that write no state.
void remove_dead_ops(Editor& editor);

}  // namespace pteron::graph
