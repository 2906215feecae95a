// SPDX-License-Identifier: BSD-3-Clause
#include "ops/common.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 count, channels;
  u32 size[2], out[2];  // height, width
};

// grid_sampler_2d(x[N, C, H, W], grid[N, OH, OW, 2], interpolation, padding, align_corners, out[N, C, OH, OW])
Status grid_sampler(Plan& op) {
  const TensorArg x = op.tensor(0), grid = op.tensor(1), y = op.output(5);
  const i64 interpolation = op.integer(2), padding = op.integer(3);
  REQUIRE(op, x.rank() == 4 && grid.rank() == 4 && grid.dim(3) == 2,
          "an image [N, C, H, W] and a grid [N, H, W, 2] are", " needed, not ", x.shape(), " and ", grid.shape());
  REQUIRE_LIVE(op, x.dim(0) == grid.dim(0), "the image has batch ", x.dim(0), ", the grid ", grid.dim(0));
  REQUIRE(op, is_float(x.dtype()) && is_float(grid.dtype()) && is_float(y.dtype()),
          "image and grid must be floating-point, not ", x.dtype(), " and ", grid.dtype());
  REQUIRE(op, interpolation >= 0 && interpolation <= 2, "interpolation is ", interpolation,
          "; 0 (bilinear), 1 (nearest) and 2 (bicubic) exist");
  REQUIRE(op, padding >= 0 && padding <= 2, "padding is ", padding, "; 0 (zeros), 1 (border) and 2 (reflection) exist");
  TRY_DO(op.resize(y, {x.dim(0), x.dim(1), grid.dim(1), grid.dim(2)}));
  if (y.numel() == 0) return {};
  REQUIRE(op, x.dim(2) > 0 && x.dim(3) > 0, "an image of ", x.shape(), " has no pixels to sample");
  Spec spec;
  spec.num("INTERPOLATION", u32(interpolation)).num("PADDING", u32(padding)).flag("ALIGN", op.flag(4));
  spec.input("x", x.dtype()).input("grid", grid.dtype()).output("y", y.dtype());
  return op.dispatch({kernels::grid_sampler, spec}, {x, grid, y},
                     Params{u32(y.numel()), x.dim(1), {x.dim(2), x.dim(3)}, {grid.dim(1), grid.dim(2)}},
                     one_thread_per(y.numel(), 64));
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.grid_sampler_2d.default", grid_sampler,
     "x, grid, interpolation: int, padding: int, align: flag = false -> out"_sig},
};
extern const OpList grid_sampler_ops = entries;

}  // namespace pteron::ops
