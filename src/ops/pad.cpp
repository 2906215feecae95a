// SPDX-License-Identifier: BSD-3-Clause
#include "ops/elementwise.h"
#include "ops/move.h"
#include "ops/walk.h"

#include <algorithm>

namespace pteron::ops {
namespace {

struct Params {
  u32 count, rank, value, pad;
  Axes<1> axes;
  u32 lows[8], windows[8];
};

// What is outside of x, as in pad.wgsl.
enum class Margin : u32 { constant, mirror, edge, wrap };

using Lows = std::array<u32, Shape::max_rank>;

// Fills in the axes. One without margins is merged with its outer neighbour, unless what lies outside of that depends
// on where its own elements are. Returns how many there are.
u32 set_axes(Params& params, const Shape& in, const Shape& out, const Lows& lows, Margin margin) {
  const auto strides = strides_of(in);
  const auto whole = [&](u32 axis) { return lows[axis] == 0 && in[axis] == out[axis]; };
  u32 kept = 0, merged = 1;
  for (u32 axis = in.rank(); axis-- > 0;) {
    if (merged == 1) params.axes.strides[0][kept] = strides[axis];
    if (axis > 0 && whole(axis) && (margin == Margin::constant || whole(axis - 1))) {
      merged *= in[axis];
      continue;
    }
    params.axes.dims[kept] = out[axis] * merged;
    params.lows[kept] = lows[axis] * merged;
    params.windows[kept] = in[axis] * merged;
    merged = 1;
    ++kept;
  }
  if (kept == 0) params.axes.dims[kept] = params.windows[kept] = 1, ++kept;  // a scalar
  return kept;
}

// Makes y, which has been resized, from x and margins. The shapes may be other views of the two.
Status surround(Plan& op, const TensorArg& x, const TensorArg& y, const Shape& in, const Shape& out, const Lows& lows,
                Margin margin, f64 value) {
  if (y.numel() == 0) return {};
  Params params{};
  params.count = u32(y.numel());
  params.value = scalar_bits(y.dtype() == DType::boolean ? value != 0 : value, is_float(y.dtype()));
  params.rank = set_axes(params, in, out, lows, margin);
  params.axes.set_inverses(params.rank);
  const Spec spec = Spec().num("MARGIN", u32(margin)).input_quads("x", x.dtype()).output_quads("y", y.dtype());
  return op.dispatch({kernels::pad, spec}, {x, y}, params, one_thread_per(ceil_div(params.count, 4), 64));
}

// op(x, pads, …, out): pairs of margins, the last axis's first; a negative one crops.
Status pad(Plan& op, Margin margin, f64 value) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const IntList pads = op.ints(1);
  REQUIRE(op, x.dtype() == y.dtype(), "the result is ", y.dtype(), ", but the input is ", x.dtype());
  REQUIRE(op, pads.size() % 2 == 0 && pads.size() <= 2 * x.rank(), pads.size(), " margins are given for ", x.shape());
  Shape shape = x.shape();
  Lows lows{};
  for (u32 i = 0; i < pads.size() / 2; ++i) {
    const u32 axis = x.rank() - 1 - i;
    const i64 low = std::clamp<i64>(pads[2 * i], INT32_MIN, INT32_MAX), size = x.shape()[axis];
    const i64 high = std::clamp<i64>(pads[2 * i + 1], INT32_MIN, INT32_MAX), padded = size + low + high;
    REQUIRE_LIVE(op, padded >= 0 && padded <= INT32_MAX, "margins ", pads[2 * i], " and ", pads[2 * i + 1],
                 " make the size of axis ", axis, " of ", x.shape(), " ", padded);
    REQUIRE_LIVE(op, margin == Margin::constant || size > 0, "axis ", axis, " of ", x.shape(),
                 " has no element that a margin could repeat");
    REQUIRE_LIVE(op, margin != Margin::mirror || std::max(low, high) < size, "margins of ", std::max(low, high),
                 " mirror more than axis ", axis, " of ", x.shape(), " has");
    shape[axis] = u32(padded);
    lows[axis] = u32(low);
  }
  TRY_DO(op.resize(y, shape));
  return surround(op, x, y, x.shape(), y.shape(), lows, margin, value);
}

// constant_pad_nd(x, pads, value, out)
Status constant_pad(Plan& op) { return pad(op, Margin::constant, op.number(2)); }

// op(x, pads, out), where pads are for just so many axes.
template <Margin margin, u32 axes>
Status repeating_pad(Plan& op) {
  const IntList pads = op.ints(1);
  REQUIRE(op, pads.size() == 2 * axes, pads.size(), " margins are given; ", 2 * axes, " are expected");
  return pad(op, margin, 0);
}

// roll(x, shifts, axes, out): what leaves an axis at one end comes back at the other. Without axes x is one line.
Status roll(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const IntList shifts = op.ints(1), axes = op.ints(2);
  REQUIRE(op, x.dtype() == y.dtype(), "the result is ", y.dtype(), ", but the input is ", x.dtype());
  REQUIRE(op, shifts.size() == axes.size() || (axes.empty() && shifts.size() == 1), shifts.size(),
          " shifts are given for ", axes.size(), " axes");
  TRY_DO(op.resize(y, x.shape()));
  REQUIRE_SUPPORTED(op, x.max().numel() <= INT32_MAX, "a tensor of shape ", x.max(), " is too large to be rolled");
  if (x.numel() == 0) return {};
  const auto shifted = [](u32 low, i64 shift, i64 size) { return u32(((low + shift % size) % size + size) % size); };
  const Shape line{u32(x.numel())};
  const Shape& shape = axes.empty() ? line : x.shape();
  Lows lows{};
  for (u32 i = 0; i < shifts.size(); ++i) {
    const u32 axis = axes.empty() ? 0 : op.normalize_axis(axes[i], x.rank());
    lows[axis] = shifted(lows[axis], shifts[i], shape.dim(i32(axis)));
  }
  return surround(op, x, y, shape, shape, lows, Margin::wrap, 0);
}

constexpr auto repeating = "x, margins: ints -> out"_sig;

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.constant_pad_nd.default", constant_pad, "x, margins: ints, value: number = 0 -> out"_sig},
    {"aten.reflection_pad1d.default", repeating_pad<Margin::mirror, 1>, repeating},
    {"aten.reflection_pad2d.default", repeating_pad<Margin::mirror, 2>, repeating},
    {"aten.reflection_pad3d.default", repeating_pad<Margin::mirror, 3>, repeating},
    {"aten.replication_pad1d.default", repeating_pad<Margin::edge, 1>, repeating},
    {"aten.replication_pad2d.default", repeating_pad<Margin::edge, 2>, repeating},
    {"aten.replication_pad3d.default", repeating_pad<Margin::edge, 3>, repeating},
    {"aten.roll.default", roll, "x, shifts: ints, axes: ints? -> out"_sig},
};
extern const OpList pad_ops = entries;

}  // namespace pteron::ops
