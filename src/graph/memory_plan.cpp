// SPDX-License-Identifier: BSD-3-Clause
#include "graph/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace pteron::graph {
namespace {

u64 align(u64 bytes) { return (bytes + placement_alignment - 1) / placement_alignment * placement_alignment; }

struct Placed {
  u32 request;
  u64 begin, end;
};

bool overlap_in_time(const MemoryRequest& a, const MemoryRequest& b) { return a.first <= b.last && b.first <= a.last; }

// The lowest offset at which `request` does not meet anything of the pool that lives at the same time.
u64 lowest_offset(const MemoryRequest& request, std::span<const Placed> pool, std::span<const MemoryRequest> requests) {
  u64 offset = 0;
  for (const Placed& p : pool) {  // sorted by begin
    if (!overlap_in_time(request, requests[p.request])) continue;
    if (p.begin >= offset + align(request.bytes)) break;
    offset = std::max(offset, p.end);
  }
  return offset;
}

}  // namespace

Result<std::vector<u64>> place(std::span<const MemoryRequest> requests, std::span<const MemoryConflict> conflicts,
                               u64 max_pool_bytes, std::vector<Placement>& placements) {
  constexpr u32 unplaced = UINT32_MAX;
  placements.assign(requests.size(), {unplaced, 0});
  std::vector<std::vector<u32>> enemies(requests.size());
  for (const MemoryConflict& c : conflicts) {
    enemies[c.read].push_back(c.written);
    enemies[c.written].push_back(c.read);
  }
  // Large ones first: small ones fit into the gaps that they leave.
  std::vector<u32> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return requests[a].bytes > requests[b].bytes; });

  std::vector<u64> sizes;
  std::vector<std::vector<Placed>> pools;
  for (u32 r : order) {
    const u64 bytes = align(std::max<u64>(requests[r].bytes, 1));
    if (bytes > max_pool_bytes)
      return fail(ErrorKind::out_of_memory, "a tensor needs ", human_bytes(bytes), ", but this device allows at most ",
                  human_bytes(max_pool_bytes), " in one buffer");
    u32 best = unplaced;
    u64 best_offset = 0, best_growth = UINT64_MAX;
    for (u32 p = 0; p < pools.size(); ++p) {
      if (std::any_of(enemies[r].begin(), enemies[r].end(), [&](u32 e) { return placements[e].pool == p; })) continue;
      const u64 offset = lowest_offset(requests[r], pools[p], requests);
      const u64 end = offset + bytes;
      if (end > max_pool_bytes) continue;
      const u64 growth = end > sizes[p] ? end - sizes[p] : 0;
      if (growth < best_growth) best = p, best_offset = offset, best_growth = growth;
    }
    if (best == unplaced) {
      best = u32(pools.size());
      pools.emplace_back();
      sizes.push_back(0);
    }
    placements[r] = {best, best_offset};
    sizes[best] = std::max(sizes[best], best_offset + bytes);
    auto& pool = pools[best];
    const Placed placed{r, best_offset, best_offset + bytes};
    pool.insert(std::upper_bound(pool.begin(), pool.end(), placed,
                                 [](const Placed& a, const Placed& b) { return a.begin < b.begin; }),
                placed);
  }
  return sizes;
}

}  // namespace pteron::graph
