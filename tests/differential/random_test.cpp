// SPDX-License-Identifier: BSD-3-Clause
// Random graphs: the engine with all passes on and with all off, and in a batch, against the reference interpreter.
#include "differential/agreement.h"
#include "differential/crashes.h"
#include "differential/options.h"
#include "differential/random/firings.h"
#include "differential/random/shrink.h"
#include "differential/tally.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <set>

namespace pteron::differential {
namespace {

constexpr u32 shrink_tries = 600;

void report(u64 seed, const Choices& choices, const std::string& problem) {
  const Sample whole = sample_of(choices.made());
  const std::vector<Way> all = ways(u32(seed));
  const auto way = std::ranges::find_if(all, [&](const Way& w) { return !disagreement(whole, w).empty(); });
  if (way == all.end()) return ADD_FAILURE() << "seed " << seed << ", but not each time: " << problem;
  const auto fails = [&](const Sample& s) { return !disagreement(s, *way).empty(); };
  const Sample sample = sample_of(shrink(choices.made(), fails, shrink_tries));
  ADD_FAILURE() << "seed " << seed << ": " << problem << "\nat its simplest: " << disagreement(sample, *way) << "\n"
                << as_code(sample, "Seed" + std::to_string(seed));
}

void check(u64 first, u32 graphs, bool expect_firings) {
  catch_crashes();
  Firings firings;
  Tally tally;
  for (u64 seed = first; seed < first + graphs; ++seed) {
    Choices choices(seed);
    const Sample sample = sample_of(choices);
    ++tally.graphs;
    tally.ops += u32(sample.graph.graph.calls.size());
    if (expect_firings) firings.count(sample);
    const std::string problem = [&] {
      const Patience limit(seed);
      return disagreement(sample, ways(u32(seed)));
    }();
    if (problem.empty()) {
      ++tally.compared;
      continue;
    }
    if (++tally.differ <= options().shrink)
      report(seed, choices, problem);
    else
      std::printf("seed %" PRIu64 ": %s\n", seed, problem.c_str());
  }
  tally.print("random", first);
  EXPECT_EQ(tally.differ, 0u);
  if (!expect_firings) return;
  std::printf("changed by");
  for (const auto& [name, count] : firings.by_pass()) std::printf(" %s %u", name.c_str(), count);
  std::printf("\n");
  for (const auto& [name, count] : firings.by_pass())
    // The one is of several conversations, the other of GPUs.
    if (name != "shared-rows" && name != "attention-splits") {
      EXPECT_GE(count, 3u) << "graphs that the pass " << name << " changes";
    }
}

TEST(RandomGraphs, AgreeWithTheReference) {
  const Options& o = options();
  if (o.seed) return check(*o.seed, o.graphs.value_or(1), false);
  check(1, o.graphs.value_or(300) / 2, true);
}

TEST(RandomGraphs, AgreeWithTheReferenceFromAFreshSeed) {
  const Options& o = options();
  if (o.seed) return;
  check(fresh_seed(), o.graphs.value_or(300) - o.graphs.value_or(300) / 2, false);
}

}  // namespace
}  // namespace pteron::differential
