// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic that gives the same bits on every platform. Compiled without contraction (see library.cmake).
#pragma once

#include <pteron/types.h>

namespace pteron::sampling {

// e to the power of x <= 0; 0 where the result would be subnormal.
f64 portable_exp(f64 x);

// Number `index` of the sequence with this seed: 53 random bits in [0, 1).
f64 portable_uniform(u64 seed, u64 index);

}  // namespace pteron::sampling
