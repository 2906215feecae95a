// SPDX-License-Identifier: BSD-3-Clause
// Places tensors that live only during an execute, and scratch memory, into few shared buffers ("pools").
#pragma once

#include "base/error.h"

#include <pteron/types.h>

#include <vector>

namespace pteron::graph {

struct Placement {
  u32 pool = 0;
  u64 offset = 0;
};

// Bytes needed from op `first` to op `last`, both included.
struct MemoryRequest {
  u64 bytes = 0;
  i64 first = 0, last = 0;
};

// Two requests that one dispatch reads and writes: WebGPU wants them in different buffers.
struct MemoryConflict {
  u32 read = 0, written = 0;
};

struct MemoryPlan {
  std::vector<u64> pools;  // bytes of each

  // In bytes, by class. What an instance and the program as a whole will have on the GPU.
  u64 weights = 0;      // constants, shared
  u64 state = 0;        // KV caches and the like, per instance
  u64 activations = 0;  // pools, per instance
  u64 scratch = 0;      // part of activations that only scratch memory made necessary
  u64 arena = 0;        // parameters and small inputs, per instance
  u64 staging = 0;      // to read outputs back, per instance
  u64 total() const { return weights + state + activations + arena + staging; }
};

constexpr u64 placement_alignment = 256;  // WebGPU's default for binding offsets

// Places every request; fills `placements` and returns the pools' sizes.
Result<std::vector<u64>> place(std::span<const MemoryRequest> requests, std::span<const MemoryConflict> conflicts,
                               u64 max_pool_bytes, std::vector<Placement>& placements);

}  // namespace pteron::graph
