// SPDX-License-Identifier: BSD-3-Clause
// The method loop: runs a method's instructions over host values, delegates on the GPU.
#pragma once

#include "graph/report.h"
#include "runtime/method_loading.h"

#include <pteron/inspect.h>

namespace pteron {

MethodInfo describe_method(const format::MethodSpec& spec, std::span<const Epilogue> epilogues);

// The ops after all rewriting, and the memory without the initial values of states.
DelegateReport describe_plan(const graph::CompiledGraph& compiled);

struct Method::Impl {
  static Result<std::unique_ptr<Impl>> create(std::shared_ptr<const void> keep_alive,
                                              const std::shared_ptr<LoadedMethod>& loaded);
  Result<std::unique_ptr<Impl>> clone() const;

  Status begin(std::span<const TensorView> inputs, const OutputSet& wanted);
  Result<bool> finish(bool wait);
  Status check_idle(std::string_view what) const;

  // All values on the host as they are before the first step.
  void reset_values();
  // Constants of the method that its instructions write: state, besides that of the delegates.
  const std::vector<u32>& written_constants() const { return written_constants_; }
  Bytes constant_bytes(u32 value) const { return slots_[value].get().bytes; }
  void write_constant(u32 value, Bytes bytes);

  // A step that is one lane of a batch. `begin_lane` gets as far as the only delegate, whose inputs and wanted outputs
  // are then there; somebody else runs it, and `finish_lane` takes its outputs from the `first` one on.
  Status begin_lane(const LoadedMethod& loaded, std::span<const TensorView> inputs, const OutputSet& wanted);
  std::span<const graph::HostInput> lane_inputs() const { return host_inputs_; }
  const OutputSet& lane_wanted() const { return graph_wanted_; }
  Status finish_lane(const graph::Runner& runner, u32 first);
  void drop_lane() { running_ = false; }

  MethodInfo info;
  std::vector<Tensor> outputs;
  // By delegate: its own state, and what its last step left.
  struct Delegate {
    std::shared_ptr<graph::RunnerPool> runners;
    graph::State state;
    std::vector<u32> added_outputs;  // see LoadedMethod
    u64 last_step = 0;
    graph::StepStats stats;
    std::vector<OpTiming> profile;
  };
  std::vector<Delegate> delegates;
  bool profiling = false;

 private:
  // A value of the method on the host. Inputs and constants are borrowed, results owned.
  struct Slot {
    TensorView view;
    Tensor owned;
    std::optional<i64> number;
    bool borrowed = false;
    bool ready = false;
    TensorView get() const { return borrowed ? view : owned.view(); }
    void borrow(const TensorView& from) {
      view = from;
      borrowed = ready = true;
      number.reset();
    }
    MutableBytes own(DType dtype, const Shape& shape) {
      owned.reshape(dtype, shape);
      borrowed = false;
      ready = true;
      number.reset();
      return owned.bytes();
    }
  };
  // An output that a call takes.
  struct Taken {
    u32 output;                // of the graph
    u32 value;                 // of the method
    bool needed = false;       // by a later instruction
    std::vector<u32> results;  // the method's outputs that it is
  };

  Status set_up();
  Result<std::vector<Taken>> taken_by(size_t instruction) const;
  Status check_inputs(std::span<const TensorView> inputs) const;
  Status set_inputs(std::span<const TensorView> inputs);
  Status prepare(std::span<const TensorView> inputs, const OutputSet& wanted);
  const format::DelegateCall* call() const;  // the next instruction, if it is one
  Status run_until_call();
  Status run_until_submit();
  Status gather(const format::DelegateCall& call);
  Status submit(const format::DelegateCall& call);
  Status collect(const format::DelegateCall& call, const graph::Runner& runner, u32 first);
  Status collect(const Taken& taken, const graph::Runner& runner, u32 first);
  Status land(const format::DelegateCall& call);
  // Results are what the file says of the value that they become, so that whoever reads it finds what it expects.
  Status check_fits(u32 value, DType dtype, const Shape& shape) const;
  Status take_number(u32 value, i64 number);
  Status copy(u32 from, u32 to);
  Status copy_into(const std::vector<u32>& args);
  Status publish();
  void choose_wanted(const Delegate& delegate);

  std::shared_ptr<const void> keep_alive_;  // the program that `spec_` belongs to
  std::shared_ptr<const LoadedMethod> loaded_;
  const format::MethodSpec* spec_ = nullptr;
  std::vector<Slot> slots_;
  std::vector<u32> written_constants_;
  std::vector<std::vector<Taken>> taken_;  // by instruction; empty if it is no call of a delegate
  std::vector<graph::HostInput> host_inputs_;
  size_t pc_ = 0;
  OutputSet wanted_;        // of the method
  OutputSet graph_wanted_;  // of the delegate that runs
  graph::RunnerPool::Lease runner_;
  bool running_ = false;
};

}  // namespace pteron
