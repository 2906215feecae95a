// SPDX-License-Identifier: BSD-3-Clause
// Lines, images and volumes of another size.
#include "ops/common.h"

#include <cmath>

namespace pteron::ops {
namespace {

struct Params {
  u32 count, pad[3];
  u32 size[4], out[4];  // depth, height, width
  f32 scale[4];         // steps in the input per step in the output
};

// As in upsample.wgsl.
enum class Mode : u32 { nearest, nearest_centre, linear, cubic };

// As torch computes it: a scale that is given (not 0) counts more than the ratio of the sizes, except where nearest
// pixels of images are copied or doubled.
f32 step_of(u32 in, u32 out, f64 scale, Mode mode, u32 axes, bool align) {
  if (align) return out > 1 ? f32(in - 1) / f32(out - 1) : 0;
  if (mode == Mode::nearest && axes == 2 && (out == in || out == 2 * in)) scale = 0;
  return scale > 0 ? f32(1 / scale) : f32(in) / f32(out);
}

// What is asked for: sizes or scales. With sizes, scales (0: none) may say how these came about.
struct Target {
  IntList sizes;
  std::array<f64, 3> scales{};
};

Status upsample(Plan& op, Mode mode, u32 axes, bool align, const Target& target) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  constexpr std::string_view names[] = {"width", "height, width", "depth, height, width"};
  REQUIRE(op, x.rank() == 2 + axes, "the input must be [batch, channels, ", names[axes - 1], "], not ", x.shape());
  REQUIRE(op, is_float(x.dtype()) && x.dtype() == y.dtype(), "images must be floating-point and of one type, not ",
          x.dtype(), " and ", y.dtype());
  Params params{0, {}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  Shape shape = x.shape();
  for (u32 i = 0; i < axes; ++i) {
    const u32 in = x.shape()[2 + i], place = 3 - axes + i;
    const f64 scale = target.scales[i];
    REQUIRE(op, scale >= 0 && std::isfinite(scale), "the scale of axis ", 2 + i, " is ", scale);
    const f64 out = target.sizes.empty() ? std::floor(f64(in) * scale) : f64(target.sizes[i]);
    REQUIRE_LIVE(op, in > 0 && out >= 1 && out <= INT32_MAX, "axis ", 2 + i, " of ", x.shape(), " can't become ", out);
    shape[2 + i] = u32(std::clamp(out, 1.0, f64(INT32_MAX)));
    params.size[place] = in;
    params.out[place] = shape[2 + i];
    params.scale[place] = step_of(in, shape[2 + i], scale, mode, axes, align);
  }
  TRY_DO(op.resize(y, shape));
  if (y.numel() == 0) return {};
  params.count = u32(y.numel());
  Spec spec;
  spec.num("MODE", u32(mode)).flag("ALIGN", align).flag("VOLUME", axes == 3);
  spec.input("x", x.dtype()).output("y", y.dtype());
  return op.dispatch({kernels::upsample, spec}, {x, y}, params, one_thread_per(y.numel(), 64));
}

// op.vec(x, sizes?, [align,] scales?, out): either sizes or scales are given.
template <Mode mode, u32 axes>
Status by_lists(Plan& op) {
  const bool aligns = mode == Mode::linear || mode == Mode::cubic;
  const u32 at = aligns ? 3 : 2;
  REQUIRE(op, op.is_null(1) != op.is_null(at), "either sizes or scales must be given");
  Target target{op.ints(1)};
  const std::span<const f64> scales = op.doubles(at);
  REQUIRE(op, target.sizes.size() + scales.size() == axes, axes, " sizes or scales are needed, not ",
          target.sizes.size() + scales.size());
  std::ranges::copy(scales, target.scales.begin());
  return upsample(op, mode, axes, aligns && op.flag(2), target);
}

// op(x, sizes, [align,] scale?, …, out): a scale for each axis.
template <Mode mode, u32 axes>
Status by_numbers(Plan& op) {
  const bool aligns = mode == Mode::linear || mode == Mode::cubic;
  Target target{op.ints(1)};
  REQUIRE(op, target.sizes.size() == axes, axes, " sizes are needed, not ", target.sizes.size());
  for (u32 i = 0; i < axes; ++i) target.scales[i] = op.number_or((aligns ? 3 : 2) + i, 0);
  return upsample(op, mode, axes, aligns && op.flag(2), target);
}

constexpr auto nearest_lists = "x, sizes: ints?, scales: numbers? -> out"_sig;
constexpr auto aligned_lists = "x, sizes: ints?, align: flag = false, scales: numbers? -> out"_sig;
constexpr graph::Signature nearest_numbers[] = {
    "x, sizes: ints, scale: number? -> out"_sig, "x, sizes: ints, scale_h: number?, scale_w: number? -> out"_sig,
    "x, sizes: ints, scale_d: number?, scale_h: number?, scale_w: number? -> out"_sig};
constexpr graph::Signature aligned_numbers[] = {
    "x, sizes: ints, align: flag, scale: number? -> out"_sig,
    "x, sizes: ints, align: flag, scale_h: number?, scale_w: number? -> out"_sig,
    "x, sizes: ints, align: flag, scale_d: number?, scale_h: number?, scale_w: number? -> out"_sig};

template <Mode mode, u32 axes>
constexpr OpFamily lists{by_lists<mode, axes>, mode < Mode::linear ? nearest_lists : aligned_lists, lanewise};
template <Mode mode, u32 axes>
constexpr OpFamily numbers{by_numbers<mode, axes>, (mode < Mode::linear ? nearest_numbers : aligned_numbers)[axes - 1],
                           lanewise};

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.upsample_nearest1d.vec", lists<Mode::nearest, 1>},
    {"aten.upsample_nearest2d.vec", lists<Mode::nearest, 2>},
    {"aten.upsample_nearest3d.vec", lists<Mode::nearest, 3>},
    {"aten._upsample_nearest_exact1d.vec", lists<Mode::nearest_centre, 1>},
    {"aten._upsample_nearest_exact2d.vec", lists<Mode::nearest_centre, 2>},
    {"aten._upsample_nearest_exact3d.vec", lists<Mode::nearest_centre, 3>},
    {"aten.upsample_linear1d.vec", lists<Mode::linear, 1>},
    {"aten.upsample_bilinear2d.vec", lists<Mode::linear, 2>},
    {"aten.upsample_trilinear3d.vec", lists<Mode::linear, 3>},
    {"aten.upsample_bicubic2d.vec", lists<Mode::cubic, 2>},
    {"aten.upsample_nearest1d.default", numbers<Mode::nearest, 1>},
    {"aten.upsample_nearest2d.default", numbers<Mode::nearest, 2>},
    {"aten.upsample_nearest3d.default", numbers<Mode::nearest, 3>},
    {"aten.upsample_linear1d.default", numbers<Mode::linear, 1>},
    {"aten.upsample_bilinear2d.default", numbers<Mode::linear, 2>},
    {"aten.upsample_trilinear3d.default", numbers<Mode::linear, 3>},
    {"aten.upsample_bicubic2d.default", numbers<Mode::cubic, 2>},
};
extern const OpList upsample_ops = entries;

}  // namespace pteron::ops
