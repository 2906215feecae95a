// SPDX-License-Identifier: BSD-3-Clause
// What the engine may do with a graph that may be invalid: refuse it with a sentence, or compute what the reference
// does; the same with passes, without them and in one further variant.
#pragma once

#include "differential/random/choices.h"
#include "differential/random/sample.h"

namespace pteron::differential {

// A nearly valid graph; `done`, if given, gets what was done to it.
Sample hostile_sample(Choices& choices, std::vector<std::string>* done);
Sample hostile_sample(Choices& choices);

struct Judgement {
  enum Kind {
    refused,  // by the engine
    agrees,   // with the reference
    unknown,  // computed, but the reference has no opinion
    differs,  // from the reference, or from itself in another variant
  } kind = refused;
  std::string what;
};
// `variant` chooses the further one.
Judgement judge(const Sample& sample, u32 variant);

// Ops and values, for those that no test can be printed of.
std::string describe(const Sample& sample);

}  // namespace pteron::differential
