// SPDX-License-Identifier: BSD-3-Clause
// One step on its way: recorded, submitted, read back. While the GPU works, the same work is recorded once more in case
// that the next step is like this one.
#pragma once

#include "graph/planner.h"
#include "graph/working_memory.h"

#include <pteron/output_set.h>

#include <chrono>

namespace pteron::graph {

class Flight {
 public:
  enum class Phase {
    idle,      // the results of the last step, if there was one, can be read
    novel,     // under way, unlike the step before it
    repeated,  // under way, like the step before it
    prepared,  // under way, and what can be done for the next step has been done
  };

  Flight(std::shared_ptr<const LoadedGraph> loaded, WorkingMemory& memory);

  Phase phase() const { return phase_; }
  // Submits what the planner has planned, on states that were bound, and starts to read the wanted outputs back.
  Status start(const Planner& planner, Lanes lanes, const OutputSet& wanted);
  // Records for the next step, as far as plans are those of the step that is under way.
  void prepare(const Planner& planner, Lanes lanes);
  // True when it has ended. With `wait`, returns only then. After an error the GPU may still use what the step used, so
  // the flight never gets idle again.
  Result<bool> finish(bool wait);

  // What kernels complained about in one lane, after the step has ended.
  Status fault(u32 lane) const;
  // Of an output that was wanted, after the step has ended: its bytes as they are on the device.
  Result<Bytes> output(u32 index, u64 bytes) const;

  void set_profiling(bool on) { profiling_ = on; }
  bool profiling() const { return profiling_; }
  std::span<const u64> durations() const { return durations_; }  // in nanoseconds, by dispatch
  struct Work {
    u32 op;
    const Variant* variant;
  };
  std::span<const Work> work() const { return work_; }  // of the last step, by dispatch
  u64 read_back() const { return read_bytes_; }         // bytes, by the last step

 private:
  Status list_dispatches(const Planner& planner, Lanes lanes, const OutputSet& wanted);
  void list_copies(const Planner& planner, Lanes lanes, const OutputSet& wanted);
  bool is_listed(const Planner& planner, Lanes lanes) const;
  void divide(const Planner& planner);
  gpu::Submission part(size_t index) const;
  Status submit();
  Status expect_answer();
  void mark_done();
  bool has_fault(size_t slot) const;
  void clear_fault(size_t slot);

  // What the list of dispatches was made for.
  struct Listing {
    u64 version = 0;
    std::vector<u64> bound;  // by lane: WorkingMemory::bound_id
    OutputSet wanted;
    bool is_valid = false;
  };

  std::shared_ptr<const LoadedGraph> loaded_;
  const CompiledGraph& c_;
  gpu::Device& device_;
  WorkingMemory& memory_;

  Phase phase_ = Phase::idle;
  Listing listing_;
  std::vector<gpu::Dispatch> dispatches_;
  std::vector<Work> work_;
  std::vector<gpu::Copy> copies_;
  std::vector<u32> part_ends_;            // in dispatches_: a submit each, mostly one for all
  struct Ahead {                          // the last step's work, recorded once more
    std::vector<gpu::Commands> commands;  // by part
    std::vector<gpu::Copy> copies;
  } ahead_;
  std::vector<u8> is_done_;           // by op: it was constant and has run
  std::vector<std::byte> host_copy_;  // of the staging buffer
  std::vector<u64> output_at_;        // offsets in it; UINT64_MAX: not read back
  u64 read_bytes_ = 0;
  f64 modelled_ = 0;                                // seconds, of all dispatches
  std::chrono::steady_clock::time_point deadline_;  // of the step that is under way
  std::vector<u64> fault_limits_;
  bool faults_dirty_ = true;  // words are to be cleared before the next step
  bool profiling_ = false;
  std::vector<u64> durations_;
};

}  // namespace pteron::graph
