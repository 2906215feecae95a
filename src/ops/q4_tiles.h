// SPDX-License-Identifier: BSD-3-Clause
// How 4-bit linears keep their constants on the GPU: in blocks of 64 columns, so that neighbouring threads read
// neighbouring words and several linears can stand one behind the other in one buffer.
//   weights      [block][k / 8][64] words of eight 4-bit values
//   scales       [block][group][64] f32
//   corrections  [block][group][64] f32
//   bias         [block][64] f32
#pragma once

#include "ops/common.h"

namespace pteron::ops {

constexpr u32 columns_per_block = 64;

// weight u8 [N, row_bytes], of which K/2 bytes are used. K is a multiple of 8.
Packing q4_weight_tiles(const TensorArg& weight, u32 depth);
// scales f32 [≥ groups, ≥ N]
Packing q4_scale_tiles(const TensorArg& scales, u32 columns, u32 groups);
// a linear's weight f32 [N, groups] over the group sums of x
Packing q4_correction_tiles(const TensorArg& weight);
// bias f32 [≥ N]
Packing q4_bias_tiles(const TensorArg& bias, u32 columns);

}  // namespace pteron::ops
