// SPDX-License-Identifier: BSD-3-Clause
#include "graph/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

namespace pteron::graph {
namespace {

constexpr u64 no_limit = UINT64_MAX / 2;

TEST(MemoryPlan, ReusesMemoryOfTensorsThatNeverMeet) {
  const std::vector<MemoryRequest> requests{{1000, 0, 1}, {1000, 2, 3}};
  std::vector<Placement> at;
  const auto pools = place(requests, {}, no_limit, at);
  ASSERT_TRUE(pools.has_value());
  EXPECT_EQ(pools->size(), 1u);
  EXPECT_EQ((*pools)[0], 1024u);
  EXPECT_EQ(at[0].offset, at[1].offset);
}

TEST(MemoryPlan, PutsWhatADispatchReadsAndWritesIntoDifferentBuffers) {
  const std::vector<MemoryRequest> requests{{100, 0, 1}, {100, 1, 2}};
  std::vector<Placement> at;
  const auto pools = place(requests, std::vector<MemoryConflict>{{0, 1}}, no_limit, at);
  ASSERT_TRUE(pools.has_value());
  EXPECT_NE(at[0].pool, at[1].pool);
}

TEST(MemoryPlan, OpensAnotherPoolWhenOneIsFull) {
  const std::vector<MemoryRequest> requests{{600, 0, 5}, {600, 0, 5}};
  std::vector<Placement> at;
  const auto pools = place(requests, {}, 1024, at);
  ASSERT_TRUE(pools.has_value());
  EXPECT_EQ(pools->size(), 2u);
}

TEST(MemoryPlan, RefusesATensorLargerThanABufferAndSaysBothSizes) {
  std::vector<Placement> at;
  const auto pools = place(std::vector<MemoryRequest>{{4096, 0, 0}}, {}, 1024, at);
  ASSERT_FALSE(pools.has_value());
  EXPECT_EQ(pools.error().kind, ErrorKind::out_of_memory);
  EXPECT_NE(pools.error().message.find("4 KiB"), std::string::npos);
  EXPECT_NE(pools.error().message.find("1 KiB"), std::string::npos);
}

TEST(MemoryPlan, NeverOverlapsLiveTensorsNorBreaksConflicts) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<MemoryRequest> requests;
    std::vector<MemoryConflict> conflicts;
    for (u32 i = 0; i < 60; ++i) {
      const i64 first = random() % 40;
      requests.push_back({random() % 5000, first, first + i64(random() % 8)});
    }
    for (u32 i = 0; i < 80; ++i) {
      const u32 a = random() % 60, b = random() % 60;
      if (a != b) conflicts.push_back({a, b});
    }
    std::vector<Placement> at;
    const auto pools = place(requests, conflicts, no_limit, at);
    ASSERT_TRUE(pools.has_value());
    for (const auto& c : conflicts) EXPECT_NE(at[c.read].pool, at[c.written].pool);
    for (u32 a = 0; a < requests.size(); ++a) {
      EXPECT_EQ(at[a].offset % placement_alignment, 0u);
      EXPECT_LE(at[a].offset + requests[a].bytes, (*pools)[at[a].pool]);
      for (u32 b = a + 1; b < requests.size(); ++b) {
        const bool meet = requests[a].first <= requests[b].last && requests[b].first <= requests[a].last;
        const bool overlap = at[a].pool == at[b].pool && at[a].offset < at[b].offset + requests[b].bytes &&
                             at[b].offset < at[a].offset + requests[a].bytes;
        EXPECT_FALSE(meet && overlap);
      }
    }
  }
}

}  // namespace
}  // namespace pteron::graph
