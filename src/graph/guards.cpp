// SPDX-License-Identifier: BSD-3-Clause
// Finds kernels that write behind their results: see CompiledGraph::guards.
#include "graph/instance.h"

#include <algorithm>
#include <cstring>

namespace pteron::graph {

namespace {

constexpr u32 paint = 0xa5c3f00d;

}  // namespace

// Paints all of the memory: what a kernel forgets to write does not look like a zero.
Status Instance::paint_guards() {
  if (c_.guards.empty()) return {};
  for (const gpu::Buffer& pool : pools_) {
    const std::vector<u32> words(pool.size() / 4, paint);
    TRY_DO(device_.write(pool.id(), 0, std::as_bytes(std::span(words))));
  }
  return {};
}

Status Instance::check_guards() {
  if (c_.guards.empty()) return {};
  std::vector<gpu::Copy> copies;
  std::vector<std::byte> found(c_.guards.size() * guard_bytes);
  TRY(const auto buffer, device_.create_buffer(found.size(), gpu::BufferUse::readback, "guards"));
  for (size_t i = 0; i < c_.guards.size(); ++i)
    copies.push_back(
        {pools_[c_.guards[i].at.pool].id(), c_.guards[i].at.offset, buffer.id(), i * guard_bytes, guard_bytes});
  gpu::Submission submission;
  submission.copies_after = copies;
  TRY_DO(device_.submit(submission));
  TRY_DO(device_.begin_read(buffer.id(), found));
  if (auto done = device_.poll_read(buffer.id(), true); !done) return Failure(std::move(done.error()));
  for (u64 at = 0; at < found.size(); at += sizeof(u32)) {
    u32 word;
    std::memcpy(&word, found.data() + at, sizeof(word));
    if (word != paint)
      return within(Status(internal_error("a kernel wrote ", at % guard_bytes, " bytes behind its result")),
                    describe(c_.graph.ops[c_.guards[at / guard_bytes].op]));
  }
  return {};
}

}  // namespace pteron::graph
