// SPDX-License-Identifier: BSD-3-Clause
// The specialisation and the operands that kernels of 4-bit linears have in common.
#pragma once

#include "ops/linear_q4.h"

namespace pteron::ops {

inline u32 depth_of(const Q4Linear& l) { return l.x.dim(-1); }
inline u32 rows_of(const Q4Linear& l) { return u32(l.x.numel() / std::max(depth_of(l), 1u)); }
inline u32 columns_of(const Q4Part& part) { return part.weight.dim(0); }
inline u32 groups_of(const Q4Linear& l) { return ceil_div(depth_of(l), l.group); }
u32 blocks_of(const Q4Part& part);

// x as its kernel sees it.
struct Q4Rows {
  Operand data;
  DType dtype;              // i8: as quantize_activations leaves it
  u32 uniform = 0;          // so many rows are bound as constant memory; 0: as storage
  bool normalises = false;  // by the kernel
  bool in_splits = false;   // put together by the kernel
};

// What kernels read of x at once.
std::string_view x_words(DType dtype);

struct Q4Variant {
  Spec spec;
  std::array<Operand, 12> operands;
  u32 used = 0;
  void bind(const Operand& operand) { operands[used++] = operand; }
  std::span<const Operand> bound() const { return std::span(operands).first(used); }
};

// Adds to a specialisation what is said in snippets/q4_linear.wgsl. `quads`: results are written four columns at a
// time, else one at a time.
Q4Variant q4_variant(Plan& op, const Q4Linear& l, const Q4Rows& x, const Spec& spec, bool quads);

}  // namespace pteron::ops
