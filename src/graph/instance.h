// SPDX-License-Identifier: BSD-3-Clause
// A running program: its own state and memory, shared constants and pipelines. A step is `begin` (plan what changed,
// upload, submit) and `finish` (wait, read back); in a browser the page awaits in between.
#pragma once

#include "graph/loaded.h"

#include <pteron/program.h>

#include <functional>

namespace pteron::graph {

// What the host gives for a graph input: a tensor, or a number for a symbolic integer. Valid until begin returns.
struct HostInput {
  DType dtype = DType::f32;
  Shape shape;
  Bytes bytes;
  std::optional<i64> number;
};

struct StepStats {
  u32 dispatches = 0;
  u32 replanned = 0;                // ops whose plan ran
  u32 late_pipelines = 0;           // compiled during a step, ever: none, if the survey saw everything
  u64 uploaded = 0, read_back = 0;  // bytes
};

struct OpTime {
  u32 op = 0;  // index into the graph's ops
  std::string_view kernel;
  u64 nanoseconds = 0;
  std::string route;
};

class Instance final : private PlanHost {
 public:
  static Result<std::unique_ptr<Instance>> create(std::shared_ptr<const LoadedGraph> loaded);
  // Another instance in the same state: a copy on the GPU.
  Result<std::unique_ptr<Instance>> clone();

  // Only outputs with their bit set in `wanted` are computed (as far as they are independent) and read back.
  Status begin(std::span<const HostInput> inputs, u64 wanted = ~u64(0));
  // False: not there yet (only without `wait`).
  Result<bool> finish(bool wait = true);

  // After begin: the live shape. After finish: the data.
  const Shape& output_shape(u32 index) const;
  Result<i64> output_number(u32 index) const;
  bool output_is_tensor(u32 index) const;
  DType output_dtype(u32 index) const;  // on the device
  // `into` has room for exactly the live elements in `dtype`.
  Status read_output(u32 index, DType dtype, MutableBytes into) const;

  Status reset();               // state as the file has it
  Status rewind(u32 position);  // forgets what caches hold from this position on
  const StepStats& stats() const { return stats_; }
  u64 gpu_bytes() const;  // of this instance alone
  MemoryTraffic traffic(u32 positions) const;

  void set_profiling(bool on) { profiling_ = on; }
  std::vector<OpTime> profile() const;
  std::string_view kernel_name(u32 dispatch) const;  // of the last step

  const CompiledGraph& compiled() const { return c_; }
  const LoadedGraph& loaded() const { return *loaded_; }

 private:
  struct Record {
    std::vector<gpu::Dispatch> steps;    // of the last plan, the first `used` of them
    std::vector<gpu::BindGroup> groups;  // by variant
    u32 used = 0;
    bool stale = true;
    bool is_done = false;            // for good
    std::string_view family, route;  // of the kernels that it chose from, and its choice for this shape
    RouteShape shape{};
  };
  struct Late {  // a variant that the survey did not see
    u32 op;
    Variant variant;
    std::shared_ptr<gpu::Pipeline> pipeline;
    gpu::BindGroup group;
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
  struct Source {  // a GPU range
    gpu::Id buffer = 0;
    u64 offset = 0, size = 0;
  };

  explicit Instance(std::shared_ptr<const LoadedGraph> loaded);
  Status allocate();
  Status init_state();
  u64 bytes_for(u32 state, u64 positions) const;
  bool caches_are_short() const;
  Status grow_caches();
  Status rebind(u32 op);
  Status bind_all();
  Result<gpu::BindGroup> bind(u32 op, const Variant& variant, gpu::Id pipeline);
  Result<Source> locate(u32 op, const Operand& operand) const;
  Result<Source> locate_constant(u32 index, u64 offset, u64 size) const;
  Source locate_value(ValueId id) const;

  Status check_inputs(std::span<const HostInput> inputs) const;
  Status check_indices(std::span<const HostInput> inputs) const;
  Status plan_all(std::span<const HostInput> inputs);
  Status plan_due();
  Status plan_one(u32 op);
  void roll_back();
  Status upload(std::span<const HostInput> inputs);
  Status flush_arena();
  void list_dispatches(u64 wanted);
  void list_copies(u64 wanted);
  Status submit(u64 wanted);
  void mark_done();
  void prepare_next();
  void foresee();
  bool is_as_foreseen(std::span<const HostInput> inputs) const;
  bool take_foreseen(std::span<const HostInput> inputs);
  Status check_faults();
  Status paint_guards();
  Status check_guards();
  void mark_dirty(u64 begin, u64 end);
  void change_shape(ValueId id, const Shape& shape);
  void change_number(ValueId id, i64 number);

  // PlanHost
  Status read(ValueId id) override;
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
  Status dispatch(const Kernel& kernel, std::span<const Operand> operands, Bytes params, Grid grid) override;
  Result<gpu::Dispatch> late_variant(const Kernel& kernel, std::span<const Operand> operands);

  std::shared_ptr<const LoadedGraph> loaded_;
  const CompiledGraph& c_;
  gpu::Device& device_;

  gpu::Buffer arena_, faults_, staging_;
  std::vector<gpu::Buffer> pools_, states_;
  std::vector<u64> wanted_positions_;  // by state: what ops that planned in this step need there to be
  std::vector<std::byte> shadow_;      // of the arena
  u64 dirty_begin_ = UINT64_MAX, dirty_end_ = 0;
  std::vector<std::byte> large_;      // converts large inputs
  std::vector<std::byte> host_copy_;  // of the staging buffer
  std::vector<u64> output_at_;        // offsets in it; UINT64_MAX: not read back
  u64 read_bytes_ = 0;

  LiveValues live_;
  std::vector<u8> changed_;
  std::vector<Change> journal_;
  std::vector<Record> records_;
  std::vector<Late> late_;
  std::vector<u64> fault_limits_, flying_limits_;  // by fault slot: of the plans, and of the step under way
  u32 op_ = 0;
  std::span<const HostInput> host_inputs_;

  std::vector<gpu::Dispatch> dispatches_;
  std::vector<u32> dispatch_ops_;
  std::optional<u64> listed_for_;  // the outputs that both are made for; none if they changed since
  std::vector<gpu::Copy> copies_;
  struct Ahead {  // the last step's work, recorded once more in case that the next step is like it
    gpu::Commands commands;
    std::vector<gpu::Copy> copies;
  } ahead_;
  bool repeats_ = false;     // the step under way is like the one before it
  bool unprepared_ = false;  // nothing was done for the next step yet
  std::vector<HostRead> host_reads_;
  bool foreseeing_ = false;   // plans see guesses
  bool is_foreseen_ = false;  // plans and live values are those of a step that is expected
  u32 foreseen_plans_ = 0;
  bool in_flight_ = false;
  bool faults_dirty_ = true;
  bool profiling_ = false;
  std::vector<u64> durations_;
  StepStats stats_;
};

}  // namespace pteron::graph
