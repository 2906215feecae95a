// SPDX-License-Identifier: BSD-3-Clause
// Where a convolution as a matrix product finds its columns: in the image, or in a copy with another layout, where four
// numbers are one load.
#pragma once

#include "ops/conv.h"

namespace pteron::ops {

// What the product's columns are read from.
enum class ConvColumns : u8 {
  image,      // as it is, number by number
  strips,     // as it is, line by line: filters that look at one channel each
  plane,      // as it is, four neighbours at a time: a position looks at itself alone
  positions,  // laid out by pixels, channels last
  unfolded,   // laid out by results, with all that a filter looks at: for few channels
};
Result<ConvColumns> choose_columns(Plan& op, const Conv& conv, const TensorArg& x);

// The same as set_image for the others.
Status set_columns(Gemm& gemm, Plan& op, const Conv& conv, const TensorArg& x, ConvColumns columns);

}  // namespace pteron::ops
