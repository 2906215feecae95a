// SPDX-License-Identifier: BSD-3-Clause
#include "graph/lanes.h"

#include "graph/op.h"
#include "graph/planner.h"

#include <algorithm>
#include <cstring>

namespace pteron::graph {
namespace {

// What a step's shapes are, and which of them follow a position.
struct StepShapes {
  std::vector<Shape> shape;
  std::vector<u8> is_fixed;
  std::vector<i64> number;
};

// The inputs with every number that plans look at replaced.
class InputsAt {
 public:
  InputsAt(const CompiledGraph& c, std::span<const HostInput> inputs, i64 number)
      : inputs_(inputs.begin(), inputs.end()) {
    std::vector<u8> is_read(inputs.size(), 0);
    for (const OpPlan& op : c.ops)
      for (const OpPlan::HostRead& read : op.host_reads) is_read[read.input] = 1;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      HostInput& input = inputs_[i];
      if (input.number) input.number = number;
      if (!is_read[i]) continue;
      input.dtype = DType::i64;
      const auto& bytes = bytes_.emplace_back(input.shape.numel(), number);
      input.bytes = std::as_bytes(std::span(bytes));
    }
  }
  std::span<const HostInput> get() const { return inputs_; }

 private:
  std::vector<HostInput> inputs_;
  std::deque<std::vector<i64>> bytes_;
};

// Plans steps at the first two positions, and compares.
Result<StepShapes> find_shapes(const CompiledGraph& c, std::span<const HostInput> inputs) {
  Arena arena(c.memory.arena);
  Planner planner(c, arena);
  StepShapes out;
  for (const i64 position : {0, 1}) {
    const InputsAt here(c, inputs, position);
    TRY_DO(planner.plan(here.get()));
    planner.accept();
    const LiveValues& live = planner.live();
    if (out.shape.empty()) {
      out.shape = live.shape;
      out.number = live.number;
      out.is_fixed.assign(live.shape.size(), 1);
    }
    for (ValueId id = 0; id < live.shape.size(); ++id) out.is_fixed[id] &= u8(out.shape[id] == live.shape[id]);
  }
  return out;
}

class LaneGraph {
 public:
  LaneGraph(const CompiledGraph& single, u32 lanes, StepShapes shapes, bool shares_rows)
      : c_(single), in_(single.graph), lanes_(lanes), shapes_(std::move(shapes)), shares_rows_(shares_rows) {}

  Graph make() {
    uses_.reserve(in_.ops.size());
    for (const Op& op : in_.ops) uses_.push_back(uses_of(in_, op));
    find_dependent();
    find_groups();
    find_shared_ops();
    out_ = in_;
    out_.lanes = lanes_;
    fold_numbers();
    add_states();
    add_tensors();
    add_ops();
    add_ports();
    return std::move(out_);
  }

 private:
  enum class Run : u8 {
    once,      // has nothing to do with a conversation
    per_lane,  //
    shared,    // once, over the rows of all lanes
    not_at_all
  };

  bool is_tensor(ValueId id) const { return in_.tensor(id) != nullptr; }
  bool is_state(ValueId id) const { return c_.storage[c_.facts.effects.memory(id)].kind == StorageKind::state; }
  // A tensor of a step that only ops make.
  bool is_plain(ValueId id) const {
    return is_tensor(id) && !in_.tensor(id)->constant && !in_.is_input(id) && shapes_.is_fixed[id];
  }
  u64 lane_bytes(ValueId id) const { return shapes_.shape[id].numel() * size_of(c_.facts.dtype[id]); }
  bool is_fraction(ValueId id) const { return shapes_.number[id] < INT32_MIN || shapes_.number[id] > INT32_MAX; }
  bool is_folded(ValueId id) const { return std::holds_alternative<SymInt>(in_.values[id]) && !dependent_[id]; }

  // What depends on an input or on state: tensors by their contents, numbers by more than shapes that never change.
  // What a lane has of its own is also written by an op for each lane.
  void find_dependent() {
    dependent_.assign(in_.values.size(), 0);
    for (ValueId id : in_.inputs) dependent_[id] = 1;
    for (ValueId id = 0; id < in_.values.size(); ++id)
      dependent_[id] |= u8(is_tensor(id) ? is_state(id) : is_fraction(id));
    run_.assign(in_.ops.size(), Run::once);
    for (bool changed = true; std::exchange(changed, false);)
      for (u32 op = 0; op < in_.ops.size(); ++op) changed |= pass_on(op);
  }

  // True if more depends than was known.
  bool pass_on(u32 op) {
    bool depends = !c_.ops[op].host_reads.empty(), depends_on_shapes = false, makes = false, changed = false;
    for (const Use& use : uses_[op]) {
      const bool only_shape = is_tensor(use.value) && use.role == Role::shape && shapes_.is_fixed[use.value];
      (only_shape ? depends_on_shapes : depends) |= dependent_[use.value] != 0;
    }
    for (const Use& use : uses_[op]) {
      if (!use.writes()) continue;
      const bool passes_on = depends || (depends_on_shapes && is_tensor(use.value));
      changed |= passes_on && !std::exchange(dependent_[use.value], u8(1));
      makes |= !is_folded(use.value);
    }
    run_[op] = !makes ? Run::not_at_all : depends || depends_on_shapes ? Run::per_lane : Run::once;
    return changed;
  }

  ValueId group_of(ValueId id) const {
    while (group_[id] != id) id = group_[id];
    return id;
  }

  // A copy that shared its source's memory does so here, so it need not run.
  bool is_within_group(u32 op) const {
    const Op& o = in_.ops[op];
    if (run_[op] != Run::per_lane || !is_plain_copy(c_.facts, o)) return false;
    const ValueId from = o.args.front(), to = o.args.back();
    const auto& effects = c_.facts.effects;
    return effects.memory(from) == effects.memory(to) && is_plain(from) && is_plain(to) &&
           is_plain(effects.memory(to)) && lane_bytes(from) == lane_bytes(to);
  }

  void find_groups() {
    group_.resize(in_.values.size());
    for (ValueId id = 0; id < group_.size(); ++id) group_[id] = id;
    for (u32 op = 0; op < in_.ops.size(); ++op) {
      if (!is_within_group(op)) continue;
      const ValueId a = group_of(in_.ops[op].args.front()), b = group_of(in_.ops[op].args.back());
      group_[std::max(a, b)] = std::min(a, b);
    }
    is_joined_.assign(in_.values.size(), 0);
  }

  // By its signature, and because its operands' rows can be counted through. Ops that report faults run per lane, so
  // that one lane's do not fail the others.
  bool can_share(u32 op) const {
    if (!shares_rows_ || run_[op] != Run::per_lane || !in_.ops[op].entry->is(lanewise) ||
        !c_.ops[op].host_reads.empty())
      return false;
    if (std::ranges::any_of(c_.faults, [op](const FaultSlot& fault) { return fault.op == op; })) return false;
    std::optional<u32> rank;
    for (const Use& use : uses_[op]) {
      if (!dependent_[use.value]) continue;
      if (!is_plain(use.value) || use.updates()) return false;
      const Shape& shape = shapes_.shape[use.value];
      if (shape.rank() < 2 || shape[0] != 1 || shape.numel() == 0 || rank.value_or(shape.rank()) != shape.rank())
        return false;
      rank = shape.rank();
    }
    return true;
  }

  // Where a lane of a tensor is used by itself, it must begin where a binding may.
  void find_shared_ops() {
    std::vector<u8> fits(in_.values.size(), 1);  // by group
    for (u32 op = 0; op < in_.ops.size(); ++op)
      if (can_share(op)) run_[op] = Run::shared;
    for (bool changed = true; std::exchange(changed, false);)
      for (u32 op = 0; op < in_.ops.size(); ++op) {
        const auto is_misfit = [&](const Use& use) { return dependent_[use.value] && !fits[group_of(use.value)]; };
        if (run_[op] == Run::shared && std::ranges::any_of(uses_[op], is_misfit))
          run_[op] = Run::per_lane, changed = true;
        if (run_[op] != Run::per_lane || is_within_group(op)) continue;
        for (const Use& use : uses_[op])
          if (is_tensor(use.value) && lane_bytes(use.value) % placement_alignment != 0)
            changed |= std::exchange(fits[group_of(use.value)], u8(0)) != 0;
      }
    for (u32 op = 0; op < in_.ops.size(); ++op)
      if (run_[op] == Run::shared)
        for (const Use& use : uses_[op])
          if (dependent_[use.value]) is_joined_[group_of(use.value)] = 1;
    for (u32 op = 0; op < in_.ops.size(); ++op)
      if (is_within_group(op) && is_joined(in_.ops[op].args.front())) run_[op] = Run::not_at_all;
  }

  bool is_joined(ValueId id) const { return is_joined_[group_of(id)] != 0; }

  ValueId add(Value value) {
    out_.values.push_back(std::move(value));
    return ValueId(out_.values.size() - 1);
  }

  // Numbers that follow from shapes alone are constants now.
  void fold_numbers() {
    for (ValueId id = 0; id < in_.values.size(); ++id)
      if (is_folded(id)) out_.values[id] = shapes_.number[id];
  }

  // The first lane has the values of the single graph; those of the others come behind, lane by lane. Their bytes are
  // those of the states that a step is given, so none are loaded.
  void add_states() {
    lane_value_.assign(in_.values.size(), {});
    std::vector<std::vector<u32>> constants(in_.constants.size());
    for (u32 lane = 0; lane < lanes_; ++lane)
      for (ValueId id = 0; id < in_.values.size(); ++id) {
        if (!is_tensor(id) || !in_.tensor(id)->constant || !is_state(id)) continue;
        const u32 constant = *in_.tensor(id)->constant;
        if (constants[constant].size() == lane) {
          if (lane > 0) out_.constants.push_back(in_.constants[constant]);
          constants[constant].push_back(lane == 0 ? constant : u32(out_.constants.size() - 1));
          out_.constants[constants[constant].back()].location.range.size = 0;
        }
        Tensor tensor = *in_.tensor(id);
        tensor.dtype = c_.facts.dtype[id];
        tensor.constant = constants[constant][lane];
        if (lane == 0) out_.values[id] = tensor;
        lane_value_[id].push_back(lane == 0 ? id : add(tensor));
      }
  }

  void add_tensors() {
    for (ValueId id = 0; id < in_.values.size(); ++id) {
      if (!lane_value_[id].empty()) continue;
      const u32 times = dependent_[id] ? lanes_ : 0;
      if (!is_tensor(id)) {  // a number
        for (u32 lane = 0; lane < times; ++lane) lane_value_[id].push_back(lane == 0 ? id : add(in_.values[id]));
        continue;
      }
      if (!dependent_[id] && in_.tensor(id)->constant) continue;
      Tensor tensor = *in_.tensor(id);
      tensor.dtype = c_.facts.dtype[id];
      tensor.fixed = shapes_.is_fixed[id] != 0;
      if (tensor.fixed) tensor.max = shapes_.shape[id];
      const ValueId group = group_of(id);
      for (u32 lane = 0; lane < times; ++lane) {
        if (is_joined(id)) tensor.part = {group, lane * lane_bytes(id)};
        lane_value_[id].push_back(lane == 0 && !is_joined(id) ? id : add(tensor));
      }
      if (is_joined(id)) {
        if (tensor.max.rank() == 0) tensor.max = {1};
        tensor.max[0] *= lanes_;
        tensor.part = {group, 0};
      }
      out_.values[id] = tensor;
    }
  }

  ValueId in_lane(ValueId id, u32 lane) {
    if (!lane_value_[id].empty()) return lane_value_[id][lane];
    const auto* list = std::get_if<ValueList>(&in_.values[id]);
    if (!list || std::ranges::none_of(list->items, [&](ValueId item) { return !lane_value_[item].empty(); })) return id;
    ValueList mapped;
    for (ValueId item : list->items) mapped.items.push_back(in_lane(item, lane));
    return add(mapped);
  }

  void add_ops() {
    out_.ops.clear();
    for (u32 i = 0; i < in_.ops.size(); ++i) {
      if (run_[i] == Run::not_at_all) continue;
      if (run_[i] != Run::per_lane) {
        out_.ops.push_back(in_.ops[i]);
        continue;
      }
      for (u32 lane = 0; lane < lanes_; ++lane) {
        Op op = in_.ops[i];
        for (ValueId& arg : op.args) arg = in_lane(arg, lane);
        op.lane = lane;
        out_.ops.push_back(std::move(op));
      }
    }
  }

  void add_ports() {
    out_.inputs.clear();
    out_.outputs.clear();
    for (u32 lane = 0; lane < lanes_; ++lane) {
      for (ValueId id : in_.inputs) out_.inputs.push_back(in_lane(id, lane));
      for (ValueId id : in_.outputs) out_.outputs.push_back(in_lane(id, lane));
    }
    out_.file_outputs = out_.outputs.size();
  }

  const CompiledGraph& c_;
  const Graph& in_;
  const u32 lanes_;
  const StepShapes shapes_;
  const bool shares_rows_;
  std::vector<std::vector<Use>> uses_;  // by op
  std::vector<u8> dependent_;           // by value
  std::vector<Run> run_;                // by op
  std::vector<ValueId> group_;          // by value: one with a smaller id and the same memory, or itself
  std::vector<u8> is_joined_;           // by group: its lanes lie behind each other
  std::vector<std::vector<ValueId>> lane_value_;
  Graph out_;
};

bool is_alike(const StateUse& a, const StateUse& b) {
  return a.bytes == b.bytes && a.cache_axis == b.cache_axis && a.position_bytes == b.position_bytes && a.to == b.to;
}

}  // namespace

Result<std::shared_ptr<const CompiledGraph>> compile_lanes(const CompiledGraph& single, u32 lanes,
                                                           std::span<const HostInput> inputs,
                                                           const CompileOptions& options) {
  TRY(StepShapes shapes, find_shapes(single, inputs));
  LaneGraph graph(single, lanes, std::move(shapes), !options.is_disabled("shared-rows"));
  CompileOptions with;
  with.disabled_passes = options.disabled_passes;
  with.submit_microseconds = options.submit_microseconds;
  with.answer_seconds = options.answer_seconds;
  TRY(auto compiled, compile_batch(graph.make(), single.facts, std::move(with)));
  bool fits = compiled->states.size() == lanes * single.states.size();
  for (size_t i = 0; fits && i < compiled->states.size(); ++i)
    fits = is_alike(compiled->states[i], single.states[i % single.states.size()]);
  if (!fits) return internal_error("the states of a batch are not those of its conversations");
  return compiled;
}

}  // namespace pteron::graph
