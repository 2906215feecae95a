// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "differential/random/choices.h"
#include "differential/random/sample.h"

namespace pteron::differential {

// A graph to make hostile: a random one, a collage, or that of a program with torch's goldens.
Sample seed_sample(Choices& choices);
// The graph of any of those programs, of which there are some for every op.
Sample program_sample(Choices& choices);

// A program of tests/data/ops as a sample; nothing if it is more than one call of one graph.
std::optional<Sample> sample_of_program(const std::string& folder);

}  // namespace pteron::differential
