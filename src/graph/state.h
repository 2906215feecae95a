// SPDX-License-Identifier: BSD-3-Clause
// What a conversation has on the GPU: the caches and buffers that ops write, and nothing else. A step runs on one state
// with some working memory, so that any number of states share that.
#pragma once

#include "graph/loaded.h"

namespace pteron::graph {

class State {
 public:
  // As the file has it.
  static Result<State> create(std::shared_ptr<const LoadedGraph> loaded);
  // A copy on the GPU.
  Result<State> clone() const;

  Status reset();               // as the file has it
  Status rewind(u32 position);  // forgets what caches hold from this position on

  // Caches start with room for a few positions. `positions` has how many a step needs, by CompiledGraph::states.
  bool has_room_for(std::span<const u64> positions) const;
  // Buffers that could be had are used, also if one could not.
  Status make_room_for(std::span<const u64> positions);

  const gpu::Buffer& buffer(u32 index) const { return buffers_[index]; }
  u64 bytes() const;
  // Stands for these buffers: another number when one was replaced by a larger one.
  u64 id() const { return id_; }

  // Kept elsewhere, as bytes: all that has no positions, and so many positions of what has some. Another graph's state
  // has another layout. `read` waits for the GPU; what is written belongs into a state that was reset.
  std::string layout() const;
  u64 kept_bytes(u64 positions) const;
  Status read(u64 positions, MutableBytes into) const;
  Status write(u64 positions, Bytes bytes);

  // Bind groups with these buffers, kept for whoever made them: for the last few, as long as they are there and no
  // buffer is replaced. Nothing if there are none for him.
  struct Bound {
    std::weak_ptr<const void> owner;
    std::vector<gpu::BindGroup> groups;
    u64 id = 0;  // another one for groups that were made again
  };
  const Bound* bound_to(const std::shared_ptr<const void>& owner) const;
  void keep_bound(const std::shared_ptr<const void>& owner, std::vector<gpu::BindGroup> groups);

 private:
  explicit State(std::shared_ptr<const LoadedGraph> loaded) : loaded_(std::move(loaded)) {}
  const CompiledGraph& compiled() const { return *loaded_->compiled; }
  gpu::Device& device() const { return loaded_->context->device(); }
  Result<gpu::Buffer> allocate(u32 index, u64 bytes) const;
  u64 bytes_for(u32 index, u64 positions) const;
  u64 kept_bytes(u32 index, u64 positions) const;
  Status replace(u32 index, u64 bytes);

  std::shared_ptr<const LoadedGraph> loaded_;
  std::vector<gpu::Buffer> buffers_;  // by CompiledGraph::states
  std::vector<Bound> bound_;          // the oldest first
  u64 id_ = 0;
};

// The states of a step, one for each conversation that it works for.
using Lanes = std::span<State* const>;

}  // namespace pteron::graph
