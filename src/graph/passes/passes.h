// SPDX-License-Identifier: BSD-3-Clause
// All passes; pass.cpp says in which order they run.
#pragma once

#include "graph/passes/pass.h"

namespace pteron::graph {

extern const Pass offsets_pass, swiglu_pass, residual_pass, siblings_pass, norm_pass, rotary_cache_pass,
    elementwise_pass, dead_code_pass;

}  // namespace pteron::graph
