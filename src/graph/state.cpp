// SPDX-License-Identifier: BSD-3-Clause
#include "graph/state.h"

#include <algorithm>
#include <atomic>
#include <bit>

namespace pteron::graph {
namespace {

constexpr u64 least_step = 256;
// A conversation alone, and in a few batches: everyone who joins or leaves makes it another lane of another number of
// lanes, and groups for all of these would take more memory than the caches.
constexpr size_t most_bound = 4;

// A conversation takes the memory that it needs: caches grow by an eighth, so that copying them is never more than a
// small part of the work.
u64 room_for(u64 positions) {
  const u64 step = std::max(std::bit_ceil(positions) / 8, least_step);
  return std::max((positions + step - 1) / step, u64(1)) * step;
}

u64 new_id() {
  static std::atomic<u64> last{0};
  return ++last;
}

// What makes state out of other bytes, in one submit.
struct Changes {
  std::vector<gpu::Fill> fills;
  std::vector<gpu::Copy> copies;

  Status submit(gpu::Device& device) const {
    if (fills.empty() && copies.empty()) return {};
    gpu::Submission submission;
    submission.fills = fills;
    submission.copies_before = copies;
    return device.submit(submission);
  }
};

}  // namespace

Result<State> State::create(std::shared_ptr<const LoadedGraph> loaded) {
  State self(std::move(loaded));
  for (u32 i = 0; i < self.compiled().states.size(); ++i) {
    TRY(auto buffer, self.allocate(i, self.bytes_for(i, 0)));
    self.buffers_.push_back(std::move(buffer));
  }
  self.id_ = new_id();
  TRY_DO(self.reset());
  return self;
}

Result<State> State::clone() const {
  State copy(loaded_);
  Changes changes;
  for (u32 i = 0; i < buffers_.size(); ++i) {
    TRY(auto buffer, allocate(i, buffers_[i].size()));
    changes.copies.push_back({buffers_[i].id(), 0, buffer.id(), 0, buffer.size()});
    copy.buffers_.push_back(std::move(buffer));
  }
  copy.id_ = new_id();
  TRY_DO(changes.submit(device()));
  return copy;
}

Status State::reset() {
  Changes changes;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (const auto& initial = loaded_->initial_states[i])
      changes.copies.push_back({initial->pieces[0].buffer.id(), 0, buffers_[i].id(), 0, buffers_[i].size()});
    else
      changes.fills.push_back({buffers_[i].id(), 0, buffers_[i].size()});
  }
  return changes.submit(device());
}

Status State::rewind(u32 position) {
  Changes changes;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const StateUse& use = compiled().states[i];
    const Shape& shape = compiled().graph.tensor(use.value)->max;
    if (!use.cache_axis)
      return unsupported("state of value ", use.value, " ", shape,
                         " is not indexed by position, so it can't be rewound; use reset or clone");
    const u32 axis = *use.cache_axis;
    if (position > shape[axis])
      return invalid("can't rewind to position ", position, ": the cache holds ", shape[axis], " positions");
    const u64 row = shape.product(axis + 1, shape.rank()) * size_of(use.to);
    for (u64 b = 0; b < shape.product(0, axis); ++b) {
      const u64 begin = (b * shape[axis] + position) * row;
      const u64 end = std::min((b + 1) * shape[axis] * row, buffers_[i].size());
      if (begin >= end) continue;
      if (begin % 4 != 0 || end % 4 != 0)
        return unsupported("the rows of a cache of shape ", shape, " are not whole words, so it can't be rewound");
      if (const auto& initial = loaded_->initial_states[i])
        changes.copies.push_back({initial->pieces[0].buffer.id(), begin, buffers_[i].id(), begin, end - begin});
      else
        changes.fills.push_back({buffers_[i].id(), begin, end - begin});
    }
  }
  return changes.submit(device());
}

Result<gpu::Buffer> State::allocate(u32 index, u64 bytes) const {
  return device().create_buffer(bytes, gpu::BufferUse::gpu, str("state of value ", compiled().states[index].value));
}

u64 State::bytes_for(u32 index, u64 positions) const {
  const StateUse& use = compiled().states[index];
  // What the file has for later positions would be lost.
  if (use.position_bytes == 0 || loaded_->initial_states[index]) return use.bytes;
  return std::min(use.bytes, room_for(positions) * use.position_bytes);
}

bool State::has_room_for(std::span<const u64> positions) const {
  for (u32 i = 0; i < buffers_.size(); ++i)
    if (bytes_for(i, positions[i]) > buffers_[i].size()) return false;
  return true;
}

Status State::make_room_for(std::span<const u64> positions) {
  for (u32 i = 0; i < buffers_.size(); ++i)
    if (const u64 bytes = bytes_for(i, positions[i]); bytes > buffers_[i].size())
      TRY_DO(within(replace(i, bytes), "the caches need more memory for this position"));
  return {};
}

Status State::replace(u32 index, u64 bytes) {
  gpu::Buffer& old = buffers_[index];
  TRY(auto larger, allocate(index, bytes));
  Changes changes;
  changes.copies.push_back({old.id(), 0, larger.id(), 0, old.size()});
  changes.fills.push_back({larger.id(), old.size(), bytes - old.size()});
  TRY_DO(changes.submit(device()));
  old = std::move(larger);
  bound_.clear();
  id_ = new_id();
  return {};
}

u64 State::bytes() const {
  u64 sum = 0;
  for (const gpu::Buffer& buffer : buffers_) sum += buffer.size();
  return sum;
}

const State::Bound* State::bound_to(const std::shared_ptr<const void>& owner) const {
  for (const Bound& bound : bound_)
    if (!bound.owner.owner_before(owner) && !owner.owner_before(bound.owner)) return &bound;
  return nullptr;
}

void State::keep_bound(const std::shared_ptr<const void>& owner, std::vector<gpu::BindGroup> groups) {
  std::erase_if(bound_, [](const Bound& bound) { return bound.owner.expired(); });
  if (bound_.size() >= most_bound) bound_.erase(bound_.begin());
  bound_.emplace_back(owner, std::move(groups), new_id());
}

}  // namespace pteron::graph
