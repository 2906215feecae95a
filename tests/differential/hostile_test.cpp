// SPDX-License-Identifier: BSD-3-Clause
// Graphs put together of programs, which must be right, and graphs that are nearly valid: an error or the right answer.
// Never a crash, a hang or something else.
#include "differential/collage/collage.h"
#include "differential/crashes.h"
#include "differential/hostile/judgement.h"
#include "differential/options.h"
#include "differential/random/shrink.h"
#include "differential/tally.h"

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>

namespace pteron::differential {
namespace {

constexpr u32 shrink_tries = 300;
constexpr size_t readable = 20000;  // characters of a test that can be pasted

using Maker = Sample (*)(Choices&);

void report(u64 seed, Maker make, const Choices& choices, const std::string& problem) {
  const u32 variant = u32(seed);
  const auto fails = [&](const Sample& s) { return judge(s, variant).kind == Judgement::differs; };
  Choices simplest(shrink(choices.made(), fails, shrink_tries, make));
  const Sample sample = make(simplest);
  std::string how;
  if (make == Maker(hostile_sample)) {
    std::vector<std::string> done;
    Choices again(simplest.made());
    hostile_sample(again, &done);
    for (const std::string& line : done) how += "  " + line + "\n";
  }
  const std::string code = as_code(sample, "Seed" + std::to_string(seed));
  ADD_FAILURE() << "seed " << seed << ": " << problem << "\nat its simplest: " << judge(sample, variant).what << "\n"
                << how << describe(sample) << (code.size() <= readable ? code : "");
}

void check(const char* kind, Maker make, u64 first, u32 graphs) {
  catch_crashes();
  Tally tally;
  for (u64 seed = first; seed < first + graphs; ++seed) {
    Choices choices(seed);
    const Sample sample = make(choices);
    const Judgement judgement = [&] {
      const Patience limit(seed);
      return judge(sample, u32(seed));
    }();
    ++tally.graphs;
    tally.ops += u32(sample.graph.graph.calls.size());
    tally.refused += judgement.kind == Judgement::refused;
    tally.compared += judgement.kind == Judgement::agrees;
    tally.unknown += judgement.kind == Judgement::unknown;
    if (judgement.kind != Judgement::differs) continue;
    if (++tally.differ <= options().shrink)
      report(seed, make, choices, judgement.what);
    else
      std::printf("seed %" PRIu64 ": %s\n", seed, judgement.what.c_str()), std::fflush(stdout);
  }
  tally.print(kind, first);
  EXPECT_EQ(tally.differ, 0u);
}

// Seeds beyond these by hand: --seed S --graphs N.
void check_fixed(const char* kind, Maker make) {
  const Options& o = options();
  if (o.seed) return check(kind, make, *o.seed, o.graphs.value_or(1));
  check(kind, make, 1, o.graphs.value_or(300) / 2);
}
void check_fresh(const char* kind, Maker make) {
  const Options& o = options();
  if (!o.seed) check(kind, make, fresh_seed(), o.graphs.value_or(300) - o.graphs.value_or(300) / 2);
}

TEST(Collages, AreRight) { check_fixed("collages", collage_of); }
TEST(Collages, AreRightFromAFreshSeed) { check_fresh("collages", collage_of); }
TEST(HostileGraphs, AreRefusedOrRight) { check_fixed("hostile", hostile_sample); }
TEST(HostileGraphs, AreRefusedOrRightFromAFreshSeed) { check_fresh("hostile", hostile_sample); }

}  // namespace
}  // namespace pteron::differential
