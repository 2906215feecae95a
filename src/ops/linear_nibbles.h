// SPDX-License-Identifier: BSD-3-Clause
// Products with 4-bit weights as members of the matrix-product family: any depth, group size and row length, weights
// from anywhere and larger than a binding.
#pragma once

#include "ops/gemm.h"

namespace pteron::ops {

// A weight u8[N, ≥ K / 2] with scales [≥ K / group, ≥ N].
struct GroupedWeight {
  TensorArg bytes, scales;
  u32 group = 0;

  u32 columns() const { return bytes.dim(0); }
  u32 row_bytes() const { return bytes.dim(1); }
};

// An error if rows of x are shorter than those in the file, which are as long as those of the weight.
Status check_depth(Plan& op, const TensorArg& x);

// `depth` values of a row are used.
Status check_weight(Plan& op, const GroupedWeight& w, u32 depth);

// y = x · wᵀ + bias. `y` has been resized.
Status linear_grouped(Plan& op, const TensorArg& x, const GroupedWeight& w, const std::optional<TensorArg>& bias,
                      const TensorArg& y);

}  // namespace pteron::ops
