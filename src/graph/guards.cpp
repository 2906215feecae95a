// SPDX-License-Identifier: BSD-3-Clause
#include "graph/guards.h"

#include <algorithm>
#include <cstring>

namespace pteron::graph {

namespace {

constexpr u32 paint = 0xa5c3f00d;

}  // namespace

Status paint_guards(const LoadedGraph& loaded, const WorkingMemory& memory) {
  if (loaded.compiled->guards.empty()) return {};
  for (const gpu::Buffer& pool : memory.pools()) {
    const std::vector<u32> words(pool.size() / 4, paint);
    TRY_DO(loaded.context->device().write(pool.id(), 0, std::as_bytes(std::span(words))));
  }
  return {};
}

Status check_guards(const LoadedGraph& loaded, const WorkingMemory& memory) {
  const CompiledGraph& c = *loaded.compiled;
  if (c.guards.empty()) return {};
  gpu::Device& device = loaded.context->device();
  std::vector<gpu::Copy> copies;
  copies.reserve(c.guards.size());
  std::vector<std::byte> found(c.guards.size() * guard_bytes);
  TRY(const auto buffer, device.create_buffer(found.size(), gpu::BufferUse::readback, "guards"));
  for (size_t i = 0; i < c.guards.size(); ++i)
    copies.push_back(
        {memory.pools()[c.guards[i].at.pool].id(), c.guards[i].at.offset, buffer.id(), i * guard_bytes, guard_bytes});
  gpu::Submission submission;
  submission.copies_after = copies;
  TRY_DO(device.submit(submission));
  TRY_DO(device.begin_read(buffer.id(), found));
  if (auto done = device.poll_read(buffer.id(), true); !done) return Failure(std::move(done.error()));
  for (u64 at = 0; at < found.size(); at += sizeof(u32)) {
    u32 word;
    std::memcpy(&word, found.data() + at, sizeof(word));
    if (word != paint)
      return within(Status(internal_error("a kernel wrote ", at % guard_bytes, " bytes behind its result")),
                    describe(c.graph.ops[c.guards[at / guard_bytes].op]));
  }
  return {};
}

}  // namespace pteron::graph
