// SPDX-License-Identifier: BSD-3-Clause
// All passes; passes.cpp says in which order they run.
#pragma once

#include "graph/pass.h"
#include "graph/rewriter.h"

namespace pteron::ops {

using graph::no_value;
using graph::Op;
using graph::Pass;
using graph::Rewriter;
using graph::Tensor;
using graph::ValueId;

extern const Pass offsets_pass, embedding_pass, swiglu_pass, residual_pass, siblings_pass, norm_pass, rotary_cache_pass,
    attention_heads_pass, attention_splits_pass, elementwise_pass, dead_code_pass;

}  // namespace pteron::ops
