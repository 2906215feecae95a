// SPDX-License-Identifier: BSD-3-Clause
// Linears with 4-bit weights, alone or fused with what stands around them.
#pragma once

#include "ops/common.h"

namespace pteron::ops {

struct Q4Part {
  TensorArg weight, scales, y;
  std::optional<TensorArg> bias;
  std::optional<TensorArg> correction;  // [N, groups]: added to the product with the group sums of x
};

struct Q4Linear {
  TensorArg x;
  u32 group = 0;
  std::array<Q4Part, 3> parts;
  u32 count = 1;
  std::optional<TensorArg> norm;  // RMS norm of x before
  f32 eps = 0;
  std::optional<TensorArg> residual;  // added to the only output
  bool swiglu = false;                // the two parts are gate and up; silu(gate) · up goes to parts[0].y
  bool planes = false;                // the two parts are added up and go to parts[0].y

  bool paired() const { return swiglu || planes; }
  u32 outputs() const { return paired() ? 1 : count; }
};

// All outputs have been resized.
Status linear_q4(Plan& op, const Q4Linear& linear);

}  // namespace pteron::ops
