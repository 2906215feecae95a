// SPDX-License-Identifier: BSD-3-Clause
// What the reference says to a graph that may be invalid. It trusts its graph, so it runs in a process of its own.
#pragma once

#include "differential/agreement.h"

#include <optional>

namespace pteron::differential {

// Starts a small process that makes those processes: one with a device open takes long to be copied. Called first.
void start_reference();
// Nothing if the interpreter throws, ends or takes too long: then it has no opinion.
std::optional<Expected> ask_reference(const std::vector<std::byte>& program, const std::vector<Step>& steps, u32 runs);

}  // namespace pteron::differential
