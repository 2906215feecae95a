// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ops/common.h"

namespace pteron::ops {

// Can heads like those of x, which has four axes, be rotated by these tables? Interleaved ones have an angle per pair,
// others one per element.
Status check_rotary(Plan& op, const TensorArg& x, const TensorArg& cosines, const TensorArg& sines, bool interleaved);

}  // namespace pteron::ops
