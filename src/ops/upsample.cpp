// SPDX-License-Identifier: BSD-3-Clause
// Images of another size.
#include "ops/common.h"

#include <cmath>

namespace pteron::ops {
namespace {

struct Params {
  u32 count, pad;
  u32 size[2], out[2];  // height, width
  f32 scale[2];         // steps in the input per step in the output
};

// As torch computes it: a scale that is given (not 0) counts more than the ratio of the sizes, except where nearest
// pixels are copied or doubled.
f32 step_of(u32 in, u32 out, f64 scale, bool nearest, bool align) {
  if (align) return out > 1 ? f32(in - 1) / f32(out - 1) : 0;
  if (nearest && out == in) return 1;
  if (nearest && out == 2 * in) return 0.5f;
  return scale > 0 ? f32(1 / scale) : f32(in) / f32(out);
}

// op(x, sizes?, …, scales?, out): either sizes or scales are given.
Status upsample(Plan& op, bool nearest, bool align, u32 scales_arg) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const IntList sizes = op.ints(1);
  REQUIRE(op, x.rank() == 4, "the input must be [batch, channels, height, width], not ", x.shape());
  REQUIRE(op, is_float(x.dtype()) && x.dtype() == y.dtype(), "images must be floating-point and of one type, not ",
          x.dtype(), " and ", y.dtype());
  REQUIRE(op, op.is_null(1) != op.is_null(scales_arg), "either sizes or scales must be given");
  const std::span<const f64> scales = op.doubles(scales_arg);
  REQUIRE(op, sizes.size() + scales.size() == 2, "two sizes or scales are needed, not ", sizes.size() + scales.size());
  Params params{};
  Shape shape = x.shape();
  for (u32 i = 0; i < 2; ++i) {
    const u32 in = x.shape()[2 + i];
    const f64 scale = scales.empty() ? 0 : scales[i];
    const f64 out = scales.empty() ? f64(sizes[i]) : std::floor(f64(in) * scale);
    REQUIRE_LIVE(op, in > 0 && out >= 1 && out <= INT32_MAX, "axis ", 2 + i, " of ", x.shape(), " can't become ", out);
    shape[2 + i] = u32(std::clamp(out, 1.0, f64(INT32_MAX)));
    params.size[i] = in;
    params.out[i] = shape[2 + i];
    params.scale[i] = step_of(in, params.out[i], scale, nearest, align);
  }
  TRY_DO(op.resize(y, shape));
  if (y.numel() == 0) return {};
  params.count = u32(y.numel());
  Spec spec;
  spec.flag("NEAREST", nearest).flag("ALIGN", align).input("x", x.dtype()).output("y", y.dtype());
  return op.dispatch({kernels::upsample, spec}, {x, y}, params, one_thread_per(y.numel(), 64));
}

// upsample_nearest2d.vec(x, sizes?, scales?, out)
Status nearest(Plan& op) { return upsample(op, true, false, 2); }
// upsample_bilinear2d.vec(x, sizes?, align_corners, scales?, out)
Status bilinear(Plan& op) { return upsample(op, false, op.flag(2), 3); }

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.upsample_nearest2d.vec", nearest, "x, sizes: ints?, scales: numbers? -> out"_sig, lanewise},
    {"aten.upsample_bilinear2d.vec", bilinear, "x, sizes: ints?, align: flag = false, scales: numbers? -> out"_sig,
     lanewise},
};
extern const OpList upsample_ops = entries;

}  // namespace pteron::ops
