// SPDX-License-Identifier: BSD-3-Clause
#include "ops/passes/passes.h"

#include <array>

// Weights are made whole first. Fusions that take more come before others: SwiGLU needs its two linears alone, the norm
// goes to whatever linear remains, and elementwise chains are what nobody else wanted.
std::span<const pteron::graph::Pass* const> pteron::graph::all_passes() {
  static constexpr std::array passes{&ops::offsets_pass,      &ops::embedding_pass,       &ops::swiglu_pass,
                                     &ops::residual_pass,     &ops::siblings_pass,        &ops::norm_pass,
                                     &ops::rotary_cache_pass, &ops::attention_heads_pass, &ops::attention_splits_pass,
                                     &ops::elementwise_pass,  &ops::dead_code_pass};
  return passes;
}
