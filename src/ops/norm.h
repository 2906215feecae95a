// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ops/common.h"

namespace pteron::ops {

// y = x · rsqrt(mean(x²) + eps) · weight over the last axis, in f32; y has room for all of x.
Status rms_norm(Plan& op, const TensorArg& x, const TensorArg& weight, const Operand& y, f64 eps);

}  // namespace pteron::ops
