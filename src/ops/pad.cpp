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

// Fills in the axes. One without margins is merged with its outer neighbour. Returns how many there are.
u32 set_axes(Params& params, const Shape& in, const Shape& out, const std::array<u32, Shape::max_rank>& lows) {
  const auto strides = strides_of(in);
  u32 kept = 0, merged = 1;
  for (u32 axis = in.rank(); axis-- > 0;) {
    if (merged == 1) params.axes.strides[0][kept] = strides[axis];
    if (axis > 0 && lows[axis] == 0 && in[axis] == out[axis]) {
      merged *= in[axis];
      continue;
    }
    params.axes.dims[kept] = out[axis] * merged;
    params.lows[kept] = lows[axis] * merged;
    params.windows[kept] = in[axis] * merged;
    merged = 1;
    ++kept;
  }
  return kept;
}

// constant_pad_nd(x, pads, value, out): pairs of margins, the last axis's first; a negative one crops.
Status pad(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const IntList pads = op.ints(1);
  REQUIRE(op, x.dtype() == y.dtype(), "the result is ", y.dtype(), ", but the input is ", x.dtype());
  REQUIRE(op, pads.size() % 2 == 0 && pads.size() <= 2 * x.rank(), pads.size(), " margins are given for ", x.shape());
  Shape shape = x.shape();
  std::array<u32, Shape::max_rank> lows{};
  for (u32 i = 0; i < pads.size() / 2; ++i) {
    const u32 axis = x.rank() - 1 - i;
    const i64 low = std::clamp<i64>(pads[2 * i], INT32_MIN, INT32_MAX), size = x.shape()[axis];
    const i64 padded = size + low + std::clamp<i64>(pads[2 * i + 1], INT32_MIN, INT32_MAX);
    REQUIRE_LIVE(op, padded >= 0 && padded <= INT32_MAX, "margins ", pads[2 * i], " and ", pads[2 * i + 1],
                 " make the size of axis ", axis, " of ", x.shape(), " ", padded);
    shape[axis] = u32(padded);
    lows[axis] = u32(low);
  }
  TRY_DO(op.resize(y, shape));
  if (y.numel() == 0) return {};
  const f64 value = op.number(2);
  Params params{};
  params.count = u32(y.numel());
  params.value = scalar_bits(y.dtype() == DType::boolean ? value != 0 : value, is_float(y.dtype()));
  params.rank = set_axes(params, x.shape(), y.shape(), lows);
  params.axes.set_inverses(params.rank);
  return op.dispatch({kernels::pad, Spec().input_quads("x", x.dtype()).output_quads("y", y.dtype())}, {x, y}, params,
                     one_thread_per(ceil_div(params.count, 4), 64));
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.constant_pad_nd.default", pad, "x, margins: ints, value: number = 0 -> out"_sig},
};
extern const OpList pad_ops = entries;

}  // namespace pteron::ops
