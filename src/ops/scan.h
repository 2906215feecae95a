// SPDX-License-Identifier: BSD-3-Clause
// What all elements up to each one of a row add up to.
#pragma once

#include "ops/common.h"

namespace pteron::ops {

// outer · stride rows of `length` elements, which lie `stride` apart.
struct ScanRows {
  u64 outer = 1;
  u32 length = 1, stride = 1;
};

// y, of a type that is no byte, gets the running sums, or products, of x.
Status scan(Plan& op, const TensorArg& x, const Operand& y, DType dtype, const ScanRows& live, const ScanRows& max,
            bool product);

}  // namespace pteron::ops
