// SPDX-License-Identifier: BSD-3-Clause
// GGML's block formats. Every quantised one is integers in groups: w = scale · (q + shift) + minimum, with one scale
// (and minimum) per `group` consecutive values; only the packing differs.
#pragma once

#include "base/error.h"

#include <pteron/types.h>

namespace pteron::convert {

struct BlockFormat {
  u32 type;  // GGML's number
  std::string_view name;
  u32 values, bytes;  // per block
  // Of quantised formats; group 0: plain numbers, one to a block.
  u32 group = 0;
  i32 lowest = 0, highest = 0;  // of q
  i32 shift = 0;                // of formats with minima; 0 for others
  void (*integers)(const std::byte* block, i8* q, f32* scales, f32* minima) = nullptr;
  f32 (*number)(const std::byte* block) = nullptr;

  bool has_minima() const { return shift != 0; }
};

// An error that names the type if it is not supported.
Result<const BlockFormat*> block_format(u32 type);

// Whole blocks to floating-point numbers.
void dequantize(const BlockFormat& format, Bytes blocks, std::span<f32> out);

}  // namespace pteron::convert
