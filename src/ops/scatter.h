// SPDX-License-Identifier: BSD-3-Clause
// Puts elements where indices say.
#pragma once

#include "ops/take.h"

namespace pteron::ops {

struct Scatter {
  enum How : u32 { overwrite, sum, product, largest, smallest, mean };

  Operand offsets = {};  // indices
  u32 size = 0;          // that they are below
  u32 stride = 1;        // of the indexed axis
  Rules rules = {};      // how they are read
  Layout layout = {};    // of the indices, with the steps in the result and the source
  How how = overwrite;   // where several elements go to one place the last one stays, or they are joined
  bool with_old = true;  // and joined with what was there
  std::optional<TensorArg> source = {};
  f64 number = 0;  // instead of a source
};

// y is x with some elements replaced. `y` has been resized.
Status run_scatter(Plan& op, const TensorArg& x, const TensorArg& y, const Scatter& scatter);

}  // namespace pteron::ops
