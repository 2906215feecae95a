// SPDX-License-Identifier: BSD-3-Clause
// How long work takes, modelled: enough to keep one submit far below what a driver's watchdog allows.
#pragma once

#include "graph/planner.h"

namespace pteron::graph {

// Of one dispatch, on a slow integrated GPU: 10 GB and 50 thousand million operations a second.
f64 modelled_seconds(const Planner& planner, u32 op, const Variant& variant);

}  // namespace pteron::graph
