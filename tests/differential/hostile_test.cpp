// SPDX-License-Identifier: BSD-3-Clause
// Graphs that are nearly valid: an error or the right answer, never a crash, a hang or something else.
#include "differential/agreement.h"
#include "differential/crashes.h"
#include "differential/hostile/judgement.h"
#include "differential/options.h"
#include "differential/random/shrink.h"

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>

namespace pteron::differential {
namespace {

constexpr u32 shrink_tries = 300;
constexpr u32 patience = 120;  // seconds for one graph

void report(u64 seed, const Choices& choices, const std::string& problem) {
  const u32 variant = u32(seed);
  const auto fails = [&](const Sample& s) { return judge(s, variant).kind == Judgement::differs; };
  Choices simplest(shrink(choices.made(), fails, shrink_tries, hostile_sample));
  std::vector<std::string> done;
  const Sample sample = hostile_sample(simplest, &done);
  std::string how;
  for (const std::string& line : done) how += "  " + line + "\n";
  ADD_FAILURE() << "seed " << seed << ": " << problem << "\nat its simplest: " << judge(sample, variant).what << "\n"
                << how << describe(sample);
}

void check(u64 first, u32 graphs) {
  catch_crashes();
  u32 counts[4] = {};
  u32 shown = 0;
  for (u64 seed = first; seed < first + graphs; ++seed) {
    Choices choices(seed);
    const Judgement judgement = [&] {
      const Patience limit(seed, patience);
      return judge(hostile_sample(choices), u32(seed));
    }();
    ++counts[judgement.kind];
    if (judgement.kind != Judgement::differs) continue;
    if (++shown <= options().shrink)
      report(seed, choices, judgement.what);
    else
      std::printf("seed %" PRIu64 ": %s\n", seed, judgement.what.c_str()), std::fflush(stdout);
  }
  std::printf("%u graphs from seed %" PRIu64 " on: %u refused, %u as the reference, %u it does not know, %u differ\n",
              graphs, first, counts[0], counts[1], counts[2], counts[3]);
  EXPECT_EQ(counts[Judgement::differs], 0u);
}

TEST(HostileGraphs, AreRefusedOrRight) {
  const Options& o = options();
  if (o.seed) return check(*o.seed, o.graphs.value_or(1));
  check(1, o.graphs.value_or(300) / 2);
}

TEST(HostileGraphs, AreRefusedOrRightFromAFreshSeed) {
  const Options& o = options();
  if (o.seed) return;
  const u64 seed = u64(std::random_device()()) << 20;
  check(seed, o.graphs.value_or(300) - o.graphs.value_or(300) / 2);
}

}  // namespace
}  // namespace pteron::differential
