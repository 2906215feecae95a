// SPDX-License-Identifier: BSD-3-Clause
// Keeps the plans of all ops up to date with what is live. Knows nothing of the GPU: what should run comes out as
// variants of the compiled graph, and their parameters go to the arena. A plan runs again when something that it read
// has changed; what fails, or was foreseen in vain, is taken back.
#pragma once

#include "graph/arena.h"
#include "graph/host_input.h"

#include <deque>

namespace pteron::graph {

struct PlannedDispatch {
  u32 op = 0;
  u32 number = 0;                    // of the variant, in OpPlan::variants; behind them: the survey did not see it
  const Variant* variant = nullptr;  // stays where it is
  u32 params_offset = 0;
  u32 x = 1, y = 1;
  bool operator==(const PlannedDispatch&) const = default;
};

class Planner final : private PlanHost {
 public:
  Planner(const CompiledGraph& compiled, Arena& arena);

  // Plans a step. Inputs have been checked. After a failure everything is as it was.
  Status plan(std::span<const HostInput> inputs);
  // The step will not run: the next one plans from what was before.
  void roll_back();
  // The step runs.
  void accept();
  // Plans the step that should come next: tokens are decoded one after the other, so mostly it differs only in its
  // position, which goes on as it went. If other inputs come, `plan` takes this back. Whatever goes wrong here will
  // show then. Nothing happens if an output of the last step would change.
  void foresee();
  bool has_foreseen() const { return phase_ == Phase::foreseen; }

  const LiveValues& live() const { return live_; }
  std::span<const PlannedDispatch> dispatches(u32 op) const;
  // That the op's plan noted, by dispatch; 0: nothing.
  std::span<const u64> operations(u32 op) const;
  // Another number when any of the dispatches is another one.
  u64 version() const { return version_; }
  // How many positions of its caches a step uses, by CompiledGraph::states.
  std::span<const u64> positions() const { return positions_; }
  std::span<const u64> fault_limits() const { return fault_limits_; }  // by fault slot
  u32 replanned() const { return replanned_; }                         // ops, for this step
  // The lane of the op at which `plan` failed; nothing if that works for all.
  std::optional<u32> failed_lane() const { return op_ < c_.ops.size() ? c_.graph.ops[op_].lane : std::nullopt; }
  // "gemm@64x576x192=shared": the kernel that an op chose from others; empty if it had no choice.
  std::string route(u32 op) const;
  const CompiledGraph& compiled() const { return c_; }

 private:
  enum class Phase {
    settled,   // plans are those of the last step
    guessing,  // plans see what is expected of the next one
    foreseen,  // plans are those of the next step, as expected
  };
  struct Record {
    std::vector<PlannedDispatch> steps;  // of the last plan, the first `used` of them
    std::vector<u64> operations;         // likewise
    u32 used = 0;
    bool stale = true;
    bool is_new = false;  // made for a step that is not accepted yet
    struct CacheUse {
      u32 state;
      u64 positions;
    };
    std::vector<CacheUse> caches;
    std::string_view family, route;
    RouteShape shape{};
  };
  struct Change {
    ValueId id;
    Shape shape;
    i64 number;
  };
  struct HostRead {  // an element of an input that plans look at
    u32 input;
    u64 index;
    i64 value, before;  // in the last step and in the one before it
    bool is_guessed = false;
    i64 guess() const { return i64(2 * u64(value) - u64(before)); }
  };

  Status plan_due();
  Status plan_one(u32 op);
  void count_positions();
  bool is_as_foreseen(std::span<const HostInput> inputs) const;
  bool take_foreseen(std::span<const HostInput> inputs);
  void change_shape(ValueId id, const Shape& shape);
  void change_number(ValueId id, i64 number);
  const Variant& late_variant(const Kernel& kernel, std::span<const Operand> operands);

  // PlanHost
  Status read(ValueId) override { return {}; }
  Status resize(ValueId id, const Shape& shape, bool settled) override;
  Status set_number(ValueId id, i64 value, bool settled) override;
  bool branch(bool condition, bool) override { return condition; }
  Status scratch(u32 number, u64 bytes) override;
  Result<u32> pack(std::span<const PackedPart> parts) override;
  Result<u32> fault_slot(std::string_view what, u64 limit) override;
  void check_indices(ValueId, u64, std::string_view, bool) override {}
  void use_cache(ValueId id, u32 axis, u64 positions, bool writes) override;
  Result<i64> host_element(ValueId tensor, u64 flat_index) override;
  void note_route(std::string_view family, const RouteShape& shape, std::string_view route) override;
  void note_operations(u64 count) override;
  Status dispatch(const Kernel& kernel, std::span<const Operand> operands, Bytes params, Grid grid) override;

  const CompiledGraph& c_;
  Arena& arena_;
  LiveValues live_;
  std::vector<u32> new_;     // ops whose plans are not accepted yet
  std::vector<u8> changed_;  // by value, since the last step
  std::vector<Change> journal_;
  std::vector<Record> records_;
  struct Late {
    u32 op;
    Variant variant;
  };
  std::deque<Late> late_;
  std::vector<u64> positions_;
  std::vector<u64> fault_limits_;
  std::vector<HostRead> host_reads_;
  std::span<const HostInput> inputs_;  // while plans run
  u32 op_ = 0;                         // whose plan runs
  Phase phase_ = Phase::settled;
  u64 version_ = 0;
  u32 replanned_ = 0, foreseen_plans_ = 0;
};

}  // namespace pteron::graph
