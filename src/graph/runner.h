// SPDX-License-Identifier: BSD-3-Clause
// Runs steps of a loaded program, one at a time, each on the states that it is given: one, or one for each lane of a
// batch, whose inputs and outputs lie behind each other. A step is `begin` (check, plan
// what changed, upload, submit) and `finish` (wait, read back); in a browser the page awaits in between. Everything is
// checked and planned before anything is uploaded; a failure leaves live shapes, symbolic integers and state as they
// were.
#pragma once

#include "graph/flight.h"

#include <mutex>

namespace pteron::graph {

struct StepStats {
  u32 dispatches = 0;
  u32 replanned = 0;                // ops whose plan ran
  u32 late_pipelines = 0;           // compiled during a step, ever: none, if the survey saw everything
  u64 uploaded = 0, read_back = 0;  // bytes
};

class Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(std::shared_ptr<const LoadedGraph> loaded);

  // Only wanted outputs are computed (as far as they are independent) and read back. The state stays where it is until
  // the step has ended.
  Status begin(Lanes lanes, std::span<const HostInput> inputs, const OutputSet& wanted = OutputSet::all());
  // If begin failed because of one lane, without which the others could run.
  std::optional<u32> failed_lane() const { return failed_lane_; }
  // False: not there yet (only without `wait`). If it is an error and the runner still is running, nobody can use it
  // again.
  Result<bool> finish(bool wait = true);
  // After finish: what went wrong in one lane. For a single state, finish says it.
  Status fault(u32 lane) const { return flight_.fault(lane); }
  bool is_running() const { return flight_.phase() != Flight::Phase::idle; }

  // After begin: the live shape. After finish: the data.
  const Shape& output_shape(u32 index) const { return planner_.live().shape[compiled().graph.outputs[index]]; }
  bool output_is_tensor(u32 index) const;
  DType output_dtype(u32 index) const;  // on the device
  Result<i64> output_number(u32 index) const;
  // `into` has room for exactly the live elements in `dtype`.
  Status read_output(u32 index, DType dtype, MutableBytes into) const;

  StepStats stats() const;
  u64 bytes() const { return memory_->bytes(); }  // of its working memory
  // Stands for its last step, among those of all runners.
  u64 last_step() const { return last_step_; }
  void set_profiling(bool on) { flight_.set_profiling(on); }

  const LoadedGraph& loaded() const { return *loaded_; }
  const CompiledGraph& compiled() const { return *loaded_->compiled; }
  const Planner& planner() const { return planner_; }
  const Flight& flight() const { return flight_; }

 private:
  Runner(std::shared_ptr<const LoadedGraph> loaded, std::unique_ptr<WorkingMemory> memory);
  Status make_ready(Lanes lanes, std::span<const HostInput> inputs);
  bool has_room(Lanes lanes) const;
  std::span<const u64> positions(u32 lane) const;
  void prepare_next();

  std::shared_ptr<const LoadedGraph> loaded_;
  std::unique_ptr<WorkingMemory> memory_;
  Planner planner_;
  Flight flight_;
  std::vector<State*> states_;  // of the step under way
  std::optional<u32> failed_lane_;
  u64 last_step_ = 0;
};

// The runners of a loaded program. A step borrows one, so that states that take turns share one, and threads that run
// at the same time have one each; those are kept for the next time.
class RunnerPool : public std::enable_shared_from_this<RunnerPool> {
 public:
  static Result<std::shared_ptr<RunnerPool>> create(std::shared_ptr<const LoadedGraph> loaded);

  class Lease {
   public:
    Lease() = default;
    Lease(std::shared_ptr<RunnerPool> pool, std::unique_ptr<Runner> runner)
        : pool_(std::move(pool)), runner_(std::move(runner)) {}
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { give_back(); }
    // A runner whose step has not ended is given up.
    void give_back();

    explicit operator bool() const { return runner_ != nullptr; }
    Runner* operator->() const { return runner_.get(); }
    Runner& operator*() const { return *runner_; }

   private:
    std::shared_ptr<RunnerPool> pool_;
    std::unique_ptr<Runner> runner_;
  };
  // Rather the runner that made this step last: it may have prepared the next one.
  Result<Lease> borrow(u64 last_step);
  // Only the runner that made this step last, or none.
  Lease borrow_after(u64 last_step);

  const std::shared_ptr<const LoadedGraph>& loaded() const { return loaded_; }
  u64 bytes() const;

 private:
  explicit RunnerPool(std::shared_ptr<const LoadedGraph> loaded) : loaded_(std::move(loaded)) {}
  std::unique_ptr<Runner> take(u64 last_step, bool or_any);
  Result<std::unique_ptr<Runner>> add();

  std::shared_ptr<const LoadedGraph> loaded_;
  mutable std::mutex mutex_;  // what follows
  std::vector<std::unique_ptr<Runner>> free_;
  u64 bytes_ = 0;  // of all runners
};

}  // namespace pteron::graph
