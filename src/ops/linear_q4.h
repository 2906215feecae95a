// SPDX-License-Identifier: BSD-3-Clause
// Linears with 4-bit weights, alone or fused with what stands around them.
#pragma once

#include "ops/common.h"

namespace pteron::ops {

struct Q4Part {
  TensorArg weight, scales, y;
  std::optional<TensorArg> bias;
  std::optional<TensorArg> minimum;  // [N, groups]
};

// A weight is scale · (q + shift) + minimum, q the 4-bit integer or, of two planes, 16 · first + second.
struct Q4Linear {
  TensorArg x;
  u32 group = 0, shift = 0;
  std::array<Q4Part, 3> parts;
  u32 count = 1;
  std::optional<TensorArg> splits;  // x as attention hands it on (attention.h), while these are more than one
  u32 heads = 0;                    // of it
  std::optional<TensorArg> norm;    // RMS norm of x before
  f32 eps = 0;
  std::optional<TensorArg> residual;  // added to the only output
  bool swiglu = false;                // the two parts are gate and up; silu(gate) · up goes to parts[0].y
  bool planes = false;                // the two parts are planes of one weight; parts[0] has what is not a plane's own

  bool paired() const { return swiglu || planes; }
  u32 outputs() const { return paired() ? 1 : count; }
};

// All outputs have been resized.
Status linear_q4(Plan& op, const Q4Linear& linear);

}  // namespace pteron::ops
