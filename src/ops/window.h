// SPDX-License-Identifier: BSD-3-Clause
// Windows that slide over lines, images and volumes, as snippets/window.wgsl has them.
#pragma once

#include "ops/common.h"

namespace pteron::ops {

using Triple = std::array<i64, 3>;  // depth, height, width

struct Window {
  u32 count;
  f32 number;  // what else the kernel needs
  u32 pad[2];
  u32 size[4], out[4], kernel[4], stride[4], padding[4], dilation[4];
};

// The last `axes` of three numbers from a list: one number for all of them, or one each. The others are `if_empty`.
Result<Triple> triple_of(Plan& op, u32 arg, std::string_view name, u32 axes, i64 least, Triple if_empty);

}  // namespace pteron::ops
