// SPDX-License-Identifier: BSD-3-Clause
// Does the engine compute what the reference interpreter does?
#pragma once

#include "differential/random/sample.h"
#include "differential/reference/array.h"

#include <span>

namespace pteron::differential {

// One way to run a graph.
struct Way {
  std::string name;
  LoadOptions options;
  bool in_batch = false;  // between two other conversations, as far as they can take a step together
};
// With all passes, with none, in a batch, and one more that `drawn` chooses: a pass off, a route forced, another
// device, guards.
std::vector<Way> ways(u32 drawn);

// What differs, this way or in each that it does; empty if nothing does.
//
// How far an element may be off is not a constant. Every op of the interpreter knows how far rounding may move its
// result: so many halves of f32's last place of the sum of its terms' magnitudes, one for each term added up, and a
// half of f16's last place where the result is stored so. The interpreter runs again with each result moved by that
// much, up, down and at random, so that later ops make of it what they do; the engine, whose roundings are other ones
// of that size, may be off by four times what is seen and by the output's own last place. Elements that are sometimes
// finite and sometimes not are not compared; others must be NaN or infinite where the reference's are.
std::string disagreement(const Sample& sample, const Way& way);
std::string disagreement(const Sample& sample, std::span<const Way> ways);

// The same with and without passes, as a failure of the test.
void expect_agreement(const test::GraphBuilder& graph, std::vector<Step> steps);

// The parts of it.
using Outputs = std::vector<std::vector<reference::Array>>;  // by step
// Values, and how far runs with noise are off each: infinity where they are sometimes finite and sometimes not.
struct Expected {
  Outputs values, slack;
};
constexpr u32 few_runs = 8, many_runs = 200;
Expected expect(const std::vector<std::byte>& program, const Sample& sample, u32 runs);
struct EngineRun {
  std::string error;
  bool internal = false;  // the error is a fault of the engine
  bool loaded = false;
  Outputs outputs;
  u32 in_batch = 0;  // steps
};
EngineRun run_engine(const std::vector<std::byte>& program, const Sample& sample, LoadOptions options);
EngineRun run_engine(const std::vector<std::byte>& program, const Sample& sample, Way way);
std::string difference(const EngineRun& run, const Expected& expected, bool may_be_refused);

}  // namespace pteron::differential
