// SPDX-License-Identifier: BSD-3-Clause
// Elementwise ops are lines of a table: a name, how arguments are read, an expression. The tables are in unary.cpp,
// binary.cpp, compare.cpp, …
#pragma once

#include "ops/common.h"

namespace pteron::ops {

struct Scalars {
  f64 s0 = 0, s1 = 0, s2 = 0;
  bool real = false;                // compute in f32 even if all tensors are integers
  std::string_view functions = {};  // WGSL that the expression calls
};

// y = expression(a, b, …) with NumPy's broadcasting. `expression` is WGSL over a, b, c, d of type V (f32 if anything is
// floating-point, else i32) and the scalars s0, s1 and s2; it may call what snippets/float_math.wgsl and
// integer_math.wgsl offer under the same names and, where V is f32, what special_math.wgsl does.
Status elementwise(Plan& op, std::span<const TensorArg> inputs, const TensorArg& y, std::string_view expression,
                   Scalars scalars = {});

// The same for ops that compute with their inputs' type: refuses to turn floating-point numbers into integers.
Status arithmetic(Plan& op, std::span<const TensorArg> inputs, const TensorArg& y, std::string_view expression,
                  Scalars scalars = {});

// A scalar that all-integer arithmetic takes as it is: an error if 32 bits don't hold it.
Status check_fits(Plan& op, f64 value);

// The same for ops that torch computes in another type if the number is not one of the integers' own: an error if it is
// not whole, or if the type of the result is bool and does not hold it. `what` is for messages.
Status check_whole(Plan& op, f64 value, DType result, std::string_view what = "number");

// An error if a byte of type i8 or u8 can't hold the whole number: torch counts it around or refuses it, and the file
// does not say whether it was an integer there.
Status check_byte(Plan& op, f64 value, DType type, std::string_view what = "number");

// Whether an op's expression is a truth value, as comparisons' are.
bool gives_truth(const graph::OpEntry& op);

// Every element of y, which has been resized, from its row-major index i: `expression` is WGSL over i, s0 and s1.
Status generate(Plan& op, const TensorArg& y, std::string_view expression, Scalars scalars);

// A scalar as a kernel's parameter of type f32 or i32, into which it is forced.
u32 scalar_bits(f64 value, bool floating);

// Row-major strides of an input in the space of an output that it broadcasts to, innermost axis first.
void set_strides(u32 (&strides)[8], const Shape& input, const Shape& output);

// The shape that two shapes broadcast to, or an error that shows both.
Result<Shape> broadcast(const Shape& a, const Shape& b);

}  // namespace pteron::ops
