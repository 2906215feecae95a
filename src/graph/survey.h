// SPDX-License-Identifier: BSD-3-Clause
// Visits every op's plan at the maximal shapes, on every branch, and notes what it may ask for.
#pragma once

#include "graph/compiled.h"

namespace pteron::graph {

// Whether a value is there before the op that sets it now: a graph input, or what another op has set.
bool is_set_again(const CompiledGraph& compiled, u32 op, ValueId id);

// What the survey learns beyond CompiledGraph.
struct Traffic {
  std::vector<std::vector<ValueId>> reads, writes;  // by op: what its dispatches bind
  struct CacheUse {
    u32 op;
    ValueId value;
    u32 axis;
    bool writes;
    bool operator==(const CacheUse&) const = default;
  };
  std::vector<CacheUse> caches;
};

class Surveyor final : public PlanHost {
 public:
  Surveyor(CompiledGraph& compiled, Traffic& traffic) : c_(compiled), traffic_(traffic) {}

  Status run(std::vector<UnsupportedOp>* problems);

  // The same for a graph as the file has it, whose ops passes may yet replace: fails only where an op contradicts
  // itself. What this device can't do or hold, what passes put in its place may.
  Status check(std::vector<UnsupportedOp>* problems);

  Status read(ValueId id) override;
  Status resize(ValueId id, const Shape& shape, bool settled) override;
  Status set_number(ValueId id, i64 value, bool settled) override;
  bool branch(bool condition, bool settled) override;
  Status scratch(u32 number, u64 bytes) override;
  Result<u32> pack(std::span<const PackedPart> parts) override;
  Result<u32> fault_slot(std::string_view what, u64 limit) override;
  void check_indices(ValueId indices, u64 limit, std::string_view what, bool negative) override;
  void use_cache(ValueId tensor, u32 axis, u64 positions, bool writes) override;
  Result<i64> host_element(ValueId tensor, u64 flat_index) override;
  void note_route(std::string_view, const RouteShape&, std::string_view) override {}
  void note_operations(u64) override {}
  Status dispatch(const Kernel& kernel, std::span<const Operand> operands, Bytes params, Grid grid) override;

 private:
  Status visit();
  bool matters(const Status& status) const;
  bool next_path();
  // The value that stands for whether it was produced: all parts of a tensor are.
  ValueId source_of(ValueId id) const;
  void give_up();
  void follow_inputs(const Op& op);
  Status check_declared(const KernelSource& kernel, const Operand& operand, gpu::BindingKind kind) const;
  Status check_operand(const KernelSource& kernel, const Operand& operand, gpu::BindingKind kind);
  u32 pipeline_for(const Kernel& kernel);
  bool is_always_empty(const Shape& shape) const;

  CompiledGraph& c_;
  Traffic& traffic_;
  LiveValues live_;
  std::vector<u8> produced_;
  bool checks_only_ = false;
  std::vector<std::optional<u32>> origin_;  // by value: the graph input that it is an unchanged copy of by now
  u32 op_ = 0;
  u32 steps_ = 0;
  struct Decision {
    bool answer;
    bool flipped;
  };
  std::vector<Decision> path_;
  u32 decisions_ = 0;
};

}  // namespace pteron::graph
