// SPDX-License-Identifier: BSD-3-Clause
// Elementwise ops are lines of a table: a name, how arguments are read, an expression.
#pragma once

#include "ops/common.h"

namespace pteron::ops {

struct Scalars {
  f64 s0 = 0, s1 = 0;
};

// y = expression(a, b, …) with NumPy's broadcasting. `expression` is WGSL over a, b, c, d of type V (f32 if anything is
// floating-point, else i32) and the scalars s0 and s1.
Status elementwise(Plan& op, std::span<const TensorArg> inputs, const TensorArg& y, std::string_view expression,
                   Scalars scalars = {});

// The shape that two shapes broadcast to, or an error that shows both.
Result<Shape> broadcast(const Shape& a, const Shape& b);

}  // namespace pteron::ops
