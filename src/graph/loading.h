// SPDX-License-Identifier: BSD-3-Clause
// Brings a compiled program onto the GPU: a state machine that asks for bytes in the order of the file, so a
// file and a stream serve it alike. Pipelines compile meanwhile.
#pragma once

#include "graph/loaded.h"

#include <pteron/progress.h>

namespace pteron::graph {

class Loading {
 public:
  static Result<std::unique_ptr<Loading>> begin(std::shared_ptr<Context> context,
                                                std::shared_ptr<const CompiledGraph> compiled, ConstantStore& store);

  struct Need {
    enum Kind { data, pipelines, nothing } kind;
    DataLocation where;  // at most `chunk_bytes` unless a packed group is larger
  };
  // What it waits for. `nothing`: call finish.
  Need next() const;
  // The bytes of the last `data` need.
  Status supply(Bytes bytes);
  // For the `pipelines` need. With `wait`, natively, returns when more are done.
  Status poll(bool wait);
  Result<std::shared_ptr<const LoadedGraph>> finish();

  Progress progress() const;

  static constexpr u64 chunk_bytes = 1 << 20;

 private:
  // One constant or initial state on its way.
  struct Task {
    DataLocation location;
    DType from, to;
    std::optional<Packing> packing;
    std::shared_ptr<GpuConstant> target;
    u64 offset = 0;            // in the target
    std::optional<u32> state;  // then `target` is made when a byte is not zero
    u64 gpu_bytes = 0;
    u64 done = 0;  // bytes of the file
  };

  Loading(std::shared_ptr<Context> context, std::shared_ptr<const CompiledGraph> compiled, ConstantStore& store);
  Status plan_constants();
  Status start_pipelines();
  Result<std::shared_ptr<GpuConstant>> allocate(u64 bytes, const std::vector<u64>& split, std::string_view label);
  static u64 file_row_bytes(const Task& task);
  u64 chunk_of(const Task& task) const;
  Status write(const Task& task, u64 offset, Bytes bytes);
  Status supply_raw(Task& task, Bytes bytes);
  Status supply_packed(Task& task, Bytes bytes);

  std::shared_ptr<LoadedGraph> loaded_;
  const CompiledGraph& c_;
  ConstantStore& store_;
  std::vector<std::pair<ConstantStore::Key, std::shared_ptr<GpuConstant>>> fresh_;
  std::vector<Task> tasks_;
  size_t current_ = 0;
  u64 total_bytes_ = 0, done_bytes_ = 0, unsent_bytes_ = 0;
  std::vector<std::byte> buffer_, converted_;

  std::vector<std::string> sources_;         // of pipelines that are compiling
  std::vector<std::vector<u32>> wanted_by_;  // indices into LoadedGraph::pipelines
  std::unique_ptr<gpu::Device::PipelineBatch> batch_;
  u32 compiled_count_ = 0;
};

// Drives a loading (of a graph or a method) from sources that answer at once.
template <class Loader>
auto drive(Loader& loading, std::span<const std::shared_ptr<format::DataSource>> sources, const ProgressFn& progress)
    -> decltype(loading.finish()) {
  std::vector<std::byte> buffer;
  Progress last;  // of which the total was known
  const auto goes_on = [&](const Progress& now) {
    if (now.total > 0) last = now;
    return !progress || progress(now);
  };
  while (true) {
    if (!goes_on(loading.progress())) return fail(ErrorKind::cancelled, "loading was cancelled");
    const Loading::Need need = loading.next();
    if (need.kind == Loading::Need::nothing) {
      // Whoever shows a bar hears of its end.
      if (last.done < last.total && !goes_on({last.phase, last.total, last.total}))
        return fail(ErrorKind::cancelled, "loading was cancelled");
      return loading.finish();
    }
    if (need.kind == Loading::Need::pipelines) {
      TRY_DO(loading.poll(true));
      continue;
    }
    const format::DataSource& source = *sources[need.where.source];
    TRY(const Bytes bytes, format::fetch(source, need.where.range, buffer));
    TRY_DO(loading.supply(bytes));
  }
}

}  // namespace pteron::graph
