// SPDX-License-Identifier: BSD-3-Clause
// State that is kept outside of the GPU.
#include "graph/state.h"

#include <algorithm>

namespace pteron::graph {

std::string State::layout() const {
  std::string out;
  for (const StateUse& use : compiled().states)
    out += str(name_of(use.to), compiled().graph.tensor(use.value)->max, " ", use.bytes, "/", use.position_bytes, ";");
  return out;
}

u64 State::kept_bytes(u32 index, u64 positions) const {
  const StateUse& use = compiled().states[index];
  const bool grows = use.position_bytes != 0 && !loaded_->initial_states[index];
  const u64 bytes = grows ? std::min(use.bytes, positions * use.position_bytes) : use.bytes;
  return (bytes + 3) / 4 * 4;
}

u64 State::kept_bytes(u64 positions) const {
  u64 sum = 0;
  for (u32 i = 0; i < buffers_.size(); ++i) sum += kept_bytes(i, positions);
  return sum;
}

Status State::read(u64 positions, MutableBytes into) const {
  if (into.size() != kept_bytes(positions)) return internal_error("state is read into other bytes than it has");
  if (into.empty()) return {};
  TRY(const auto staging, device().create_buffer(into.size(), gpu::BufferUse::readback, "state to be kept"));
  std::vector<gpu::Copy> copies;
  u64 at = 0;
  for (u32 i = 0; i < buffers_.size(); ++i) {
    const u64 size = kept_bytes(i, positions);
    if (size > buffers_[i].size()) return invalid("the state has no ", positions, " positions");
    if (size > 0) copies.push_back({buffers_[i].id(), 0, staging.id(), at, size});
    at += size;
  }
  gpu::Submission submission;
  submission.copies_before = copies;
  TRY_DO(device().submit(submission));
  TRY_DO(device().begin_read(staging.id(), into));
  TRY(const bool done, device().poll_read(staging.id(), true));
  return done ? Status() : unsupported("state can't be read where waiting is impossible");
}

Status State::write(u64 positions, Bytes bytes) {
  if (bytes.size() != kept_bytes(positions))
    return invalid("state of ", positions, " positions has ", kept_bytes(positions), " bytes, but ", bytes.size(),
                   " were given");
  TRY_DO(make_room_for(std::vector<u64>(buffers_.size(), positions)));
  u64 at = 0;
  for (u32 i = 0; i < buffers_.size(); ++i) {
    const u64 size = kept_bytes(i, positions);
    if (size > 0) TRY_DO(device().write(buffers_[i].id(), 0, bytes.subspan(at, size)));
    at += size;
  }
  return {};
}

}  // namespace pteron::graph
