// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "differential/random/choices.h"
#include "differential/random/sample.h"

#include <functional>

namespace pteron::differential {

Sample sample_of(Choices& choices);
Sample sample_of(std::vector<u32> choices);

// A simpler list of choices whose sample still fails: without whole ops, with smaller numbers. Tries so many at most.
std::vector<u32> shrink(std::vector<u32> choices, const std::function<bool(const Sample&)>& fails, u32 tries,
                        Sample (*make)(Choices&) = sample_of);

}  // namespace pteron::differential
