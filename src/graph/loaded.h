// SPDX-License-Identifier: BSD-3-Clause
// A compiled program with what its instances share on the GPU.
#pragma once

#include "graph/compiled.h"
#include "graph/context.h"

namespace pteron::graph {

// A constant on the GPU: one buffer, or several if it is larger than a buffer may be.
struct GpuConstant {
  struct Piece {
    u64 offset;  // of its first byte in the constant
    gpu::Buffer buffer;
  };
  std::vector<Piece> pieces;

  u64 bytes() const {
    u64 sum = 0;
    for (const Piece& p : pieces) sum += p.buffer.size();
    return sum;
  }
};

// Constants of one program, shared by its methods and instances while any of them lives.
class ConstantStore {
 public:
  struct Piece {
    DataLocation location;
    DType from, to;
    std::optional<Packing> packing;
    friend bool operator==(const Piece&, const Piece&) = default;
  };
  struct Key {
    std::vector<Piece> pieces;
    std::vector<u64> split;
    friend bool operator==(const Key&, const Key&) = default;
  };
  std::shared_ptr<GpuConstant> find(const Key& key);
  void add(Key key, const std::shared_ptr<GpuConstant>& constant);

 private:
  std::mutex mutex_;
  std::vector<std::pair<Key, std::weak_ptr<GpuConstant>>> entries_;
};

struct LoadedGraph {
  std::shared_ptr<Context> context;
  std::shared_ptr<const CompiledGraph> compiled;
  std::vector<std::shared_ptr<gpu::Pipeline>> pipelines;     // by CompiledGraph::pipelines
  std::vector<std::shared_ptr<GpuConstant>> constants;       // by CompiledGraph::constants
  std::vector<std::shared_ptr<GpuConstant>> initial_states;  // by CompiledGraph::states; nothing: all zeros
};

}  // namespace pteron::graph
