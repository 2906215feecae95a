// SPDX-License-Identifier: BSD-3-Clause
// Windows that slide over lines, images and volumes, as snippets/window.wgsl has them.
#pragma once

#include "ops/common.h"

namespace pteron::ops {

using Triple = std::array<i64, 3>;  // depth, height, width

struct Window {
  u32 count = 0;
  f32 number = 0;  // what else the kernel needs
  u32 pad[2]{};
  u32 size[4]{1, 1, 1}, out[4]{1, 1, 1}, kernel[4]{1, 1, 1}, stride[4]{1, 1, 1}, padding[4]{}, dilation[4]{1, 1, 1};
};

// The last `axes` of three numbers from a list: one number for all of them, or one each. The others are `if_empty`.
Result<Triple> triple_of(Plan& op, u32 arg, std::string_view name, u32 axes, i64 least, Triple if_empty);

}  // namespace pteron::ops
