// SPDX-License-Identifier: BSD-3-Clause
// What a step needs on the GPU besides weights and state: pools, the arena, staging, and the bind groups that tie all
// of them together. It remembers nothing from one step to the next that matters to anyone, so all states of a program
// can use it in turn.
#pragma once

#include "graph/arena.h"
#include "graph/host_input.h"
#include "graph/planner.h"
#include "graph/state.h"

namespace pteron::graph {

class WorkingMemory {
 public:
  static Result<std::unique_ptr<WorkingMemory>> create(std::shared_ptr<const LoadedGraph> loaded);

  Arena& arena() { return arena_; }
  // Large inputs go to their pool at once, small ones and parameters with one write.
  Status upload(std::span<const HostInput> inputs);
  u64 uploaded() const { return uploaded_; }  // bytes, by the last upload

  // Makes sure that there are bind groups with the state of a lane. Those without state are made once.
  Status bind(State& state, u32 lane);
  // Stands for the groups that are bound now.
  u64 bound_id(const State& state, u32 lane) const;
  // Ready to be submitted, on states that were bound.
  Result<gpu::Dispatch> resolve(const PlannedDispatch& planned, Lanes lanes);

  struct Range {
    gpu::Id buffer = 0;
    u64 offset = 0, size = 0;
  };
  Range locate(ValueId id, const State* state) const;
  const gpu::Buffer& faults() const { return faults_; }
  const gpu::Buffer& staging() const { return staging_; }
  std::span<const gpu::Buffer> pools() const { return pools_; }
  u64 bytes() const;
  u32 late_pipelines() const { return u32(late_.size()); }

 private:
  struct Late {  // a variant that the survey did not see, with the state that it was last used on
    const Variant* variant;
    std::shared_ptr<gpu::Pipeline> pipeline;
    u64 state;
    gpu::BindGroup group;
  };

  explicit WorkingMemory(std::shared_ptr<const LoadedGraph> loaded);
  Status allocate();
  void place_groups();
  Result<std::vector<gpu::BindGroup>> bind_groups(const State* state, u32 lane) const;
  Result<gpu::BindGroup> bind(u32 op, const Variant& variant, gpu::Id pipeline, const State* state) const;
  Result<Range> locate(u32 op, const Operand& operand, const State* state) const;
  Result<Range> locate_constant(u32 index, u64 offset, u64 size) const;
  Result<gpu::Dispatch> resolve_late(u32 op, const Variant& variant, const State& state);
  Status write(gpu::Id buffer, u64 offset, Bytes bytes);

  std::shared_ptr<const LoadedGraph> loaded_;
  const CompiledGraph& c_;
  gpu::Device& device_;
  std::vector<std::shared_ptr<const void>> identities_;  // by lane; for states, to know its bind groups by

  Arena arena_;
  gpu::Buffer arena_buffer_, faults_, staging_;
  std::vector<gpu::Buffer> pools_;
  struct Group {
    bool with_state;
    u32 index;  // among those of its lane's state, or those without
  };
  std::vector<Group> places_;           // by variant of all ops
  std::vector<u32> first_place_;        // by op: of its variants
  std::vector<gpu::BindGroup> groups_;  // of variants without state
  std::vector<std::byte> large_;        // converts large inputs
  std::vector<Late> late_;
  u64 uploaded_ = 0;
};

}  // namespace pteron::graph
