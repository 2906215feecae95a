// SPDX-License-Identifier: BSD-3-Clause
// What ops do to memory, computed from their signatures; everybody who wants to know asks here. In a file every result
// is a value of its own. So memory is the constant if a value is one (also under several ids), else the value itself,
// until the planner lets a copy share its source's.
#pragma once

#include "graph/graph.h"
#include "graph/signature.h"

namespace pteron::graph {

// An op's argument, or an item of a list among them.
struct Use {
  ValueId value = no_value;
  // of the signature; `shape` also stands for symbolic integers that are read, `out` for those that are set
  Role role = Role::in;

  bool reads() const { return role == Role::in || role == Role::inout || role == Role::cache; }
  bool writes() const { return role == Role::out || role == Role::inout || role == Role::cache; }
  bool updates() const { return role == Role::inout || role == Role::cache; }
};

// What an op does, by its signature.
std::vector<Use> uses_of(const Graph& graph, const Op& op);

class Effects {
 public:
  Effects() = default;
  explicit Effects(const Graph& graph);

  std::span<const Use> of(u32 op) const { return ops_[op]; }
  // Values with the same memory have the same representative.
  ValueId memory(ValueId id) const { return memory_[id]; }
  // Ops that have to do with a value's memory, in order.
  std::span<const u32> touching(ValueId id) const { return touching_[memory_[id]]; }
  bool reads(u32 op, ValueId id) const { return any_of(op, id, &Use::reads); }
  bool writes(u32 op, ValueId id) const { return any_of(op, id, &Use::writes); }
  // Those of them that write it.
  std::span<const u32> writing(ValueId id) const { return writing_[memory_[id]]; }
  u32 writers(ValueId id) const { return u32(writing(id).size()); }
  // True if a value's bytes never change: it is a constant that no op writes. Its contents may be repacked.
  bool is_fixed(const Graph& graph, ValueId id) const;

  // --- for those who change the graph
  // The op is another one now, or none.
  void replace(const Graph& graph, u32 op);
  void remove(u32 op);
  void add_value() { memory_.push_back(ValueId(memory_.size())), touching_.emplace_back(), writing_.emplace_back(); }
  // The op copies `from` to `to`, which is one memory from now on, so it does nothing.
  void share(u32 op, ValueId from, ValueId to);

 private:
  bool any_of(u32 op, ValueId id, bool (Use::*is)() const) const;

  std::vector<std::vector<Use>> ops_;
  std::vector<ValueId> memory_;                       // by value
  std::vector<std::vector<u32>> touching_, writing_;  // by memory
};

}  // namespace pteron::graph
