// SPDX-License-Identifier: BSD-3-Clause
// Blocks of an image, and back.
#include "ops/window.h"

namespace pteron::ops {
namespace {

// col2im(x[N, C · kh · kw, L], size, kernel, dilation, padding, stride, out[N, C, H, W]): blocks that lie in rows over
// an image, L of them, are added up.
Status col2im(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  REQUIRE(op, is_float(x.dtype()) && x.dtype() == y.dtype(), "blocks must be floating-point and of one type, not ",
          x.dtype(), " and ", y.dtype());
  REQUIRE(op, x.rank() == 2 || x.rank() == 3, "blocks must be [batch, elements, places] or without batch, not ",
          x.shape());
  TRY(const Triple size, triple_of(op, 1, "size", 2, 1, {1, 0, 0}));
  TRY(const Triple kernel, triple_of(op, 2, "kernel", 2, 1, {1, 0, 0}));
  TRY(const Triple dilation, triple_of(op, 3, "dilation", 2, 1, {1, 1, 1}));
  TRY(const Triple padding, triple_of(op, 4, "padding", 2, 0, {}));
  TRY(const Triple stride, triple_of(op, 5, "stride", 2, 1, {1, 1, 1}));
  const i64 taps = kernel[1] * kernel[2];
  REQUIRE(op, x.dim(-2) % taps == 0, x.dim(-2), " elements are no whole number of blocks of ", taps);
  REQUIRE_SUPPORTED(op, u64(kernel[1]) * u64(kernel[2] + 1) <= max_rounds(op.device()), "blocks of ", kernel[1], " x ",
                    kernel[2], " are too large for a software adapter; use a GPU");
  Window window;
  i64 places = 1;
  for (u32 i = 0; i < 3; ++i) {
    const i64 room = size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1;
    REQUIRE_LIVE(op, room >= 0, "blocks of ", kernel[i], " don't fit an image of ", size[i], " with padding ",
                 padding[i]);
    window.size[i] = u32(size[i]);
    window.out[i] = u32(std::max<i64>(room, 0) / stride[i] + 1);
    window.kernel[i] = u32(kernel[i]);
    window.stride[i] = u32(stride[i]);
    window.padding[i] = u32(padding[i]);
    window.dilation[i] = u32(dilation[i]);
    places *= window.out[i];
  }
  REQUIRE_LIVE(op, i64(x.dim(-1)) == places, "there are ", x.dim(-1), " blocks, but ", places, " places");
  Shape shape = x.shape();
  shape[x.rank() - 2] = u32(x.dim(-2) / taps);
  shape[x.rank() - 1] = window.size[1];
  shape.push_back(window.size[2]);
  TRY_DO(op.resize(y, shape));
  if (y.numel() == 0) return {};
  window.count = u32(y.numel());
  return op.dispatch({kernels::fold, Spec().input("x", x.dtype()).output("y", y.dtype())}, {x, y}, window,
                     one_thread_per(y.numel(), 64));
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.col2im.default", col2im,
     "x, size: ints, kernel: ints, dilation: ints, padding: ints, stride: ints -> out"_sig},
};
extern const OpList fold_ops = entries;

}  // namespace pteron::ops
