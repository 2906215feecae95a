// SPDX-License-Identifier: BSD-3-Clause
// How 4-bit linears keep their constants on the GPU: in blocks of 64 columns, so that neighbouring threads read
// neighbouring words and several linears can stand one behind the other in one buffer.
//   weights         [block][k / 8][64] words of eight 4-bit values
//   scales, minima  [block][group][64] f32 or, where the file promises that they hold all values, halves
//   bias            [block][64] f32
#pragma once

#include "ops/common.h"

namespace pteron::ops {

constexpr u32 columns_per_block = 64;

enum class Kept { as_floats, as_halves };

// weight u8 [N, row_bytes], of which K/2 bytes are used. K is a multiple of 8.
Packing q4_weight_tiles(const TensorArg& weight, u32 depth);
// f32 [≥ groups, ≥ N], as linears have their scales
Packing q4_scale_tiles(const TensorArg& scales, u32 columns, u32 groups, Kept kept);
// f32 [N, groups], as embeddings have their scales and both have their minima
Packing q4_row_tiles(const TensorArg& rows, Kept kept);
// bias f32 [≥ N]
Packing q4_bias_tiles(const TensorArg& bias, u32 columns);

}  // namespace pteron::ops
