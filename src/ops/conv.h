// SPDX-License-Identifier: BSD-3-Clause
// Convolutions as matrix products: rows are output channels, columns positions, batches are groups of images.
#pragma once

#include "ops/gemm.h"

namespace pteron::ops {

struct ConvAxis {
  u32 in = 1, taps = 1, out = 1;
  i64 stride = 1, pad = 0, dilation = 1, out_pad = 0;
};

struct Conv {
  u32 axes = 2, images = 1, groups = 1, in_channels = 0, out_channels = 0;
  ConvAxis z, y, x;  // one in two dimensions has a depth of 1, one in a single dimension a height of 1 too
  bool transposed = false, volume = false;
  Shape out;

  u32 taps() const { return z.taps * y.taps * x.taps; }
  u32 group_in() const { return in_channels / groups; }
  u32 group_out() const { return out_channels / groups; }
  bool depthwise() const { return group_in() == 1; }
};

// Where a convolution's op has its arguments.
struct ConvArgs {
  u32 stride, pad, dilation, groups;
  std::optional<u32> out_pad;
};

// Reads the geometry and checks it. `taps` are the filter's sizes, one to three.
Result<Conv> read_conv(Plan& op, const ConvArgs& args, const TensorArg& x, std::span<const u32> taps, u32 out_channels,
                       bool transposed);

// Sets the product's sizes.
void set_sizes(Gemm& gemm, const Conv& conv);

// Also makes the image x its B.
void set_image(Gemm& gemm, const Conv& conv, const TensorArg& x, std::optional<i32> zero = std::nullopt);

}  // namespace pteron::ops
