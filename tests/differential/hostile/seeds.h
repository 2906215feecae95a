// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "differential/random/choices.h"
#include "differential/random/sample.h"

namespace pteron::differential {

// A graph to start from: a random one, or that of a program with torch's goldens, of which there are some for every op.
Sample seed_sample(Choices& choices);

// A program of tests/data/ops as a sample; nothing if it is more than one call of one graph.
std::optional<Sample> sample_of_program(const std::string& folder);

}  // namespace pteron::differential
