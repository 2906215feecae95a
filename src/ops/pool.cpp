// SPDX-License-Identifier: BSD-3-Clause
// Pooling over lines, images and volumes: [batch, channels, …] or [channels, …] with one to three axes that windows
// slide over. Fewer axes are axes of size 1 in front.
#include "ops/bindings.h"
#include "ops/window.h"

#include <limits>

namespace pteron::ops {
namespace {

struct PoolArgs {
  u32 axes;  // that windows slide over
  Triple kernel{1, 1, 1}, stride{1, 1, 1}, padding{}, dilation{1, 1, 1};
  bool ceil = false;
};

// op(x, kernel, stride, padding, …)
Result<PoolArgs> pool_args(Plan& op, u32 axes) {
  PoolArgs out{axes};
  Triple none{1, 1, 1};
  for (u32 i = 3 - axes; i < 3; ++i) none[i] = 0;
  TRY(out.kernel, triple_of(op, 1, "kernel", axes, 1, none));
  TRY(out.stride, triple_of(op, 2, "stride", axes, 1, out.kernel));
  TRY(out.padding, triple_of(op, 3, "padding", axes, 0, {}));
  return out;
}

Status check_tensors(Plan& op, const TensorArg& x, const TensorArg& y, u32 axes) {
  constexpr std::string_view names[] = {"width", "height, width", "depth, height, width"};
  REQUIRE(op, x.rank() == axes + 1 || x.rank() == axes + 2, "pooling needs [batch, channels, ", names[axes - 1],
          "] or without batch, not ", x.shape());
  REQUIRE(op, is_float(x.dtype()) && x.dtype() == y.dtype(), "pooling needs floating-point tensors of one type, not ",
          x.dtype(), " and ", y.dtype());
  return {};
}

// torch's rule. With `ceil` the last window may reach beyond the padding, but must not start there.
i64 pooled_size(i64 size, i64 kernel, i64 stride, i64 padding, i64 dilation, bool ceil) {
  const i64 room = size + 2 * padding - dilation * (kernel - 1) - 1;
  if (room < 0 && (!ceil || room + stride - 1 < 0)) return 0;
  i64 out = (room + (ceil ? stride - 1 : 0)) / stride + 1;
  if (ceil && (out - 1) * stride >= size + padding) --out;
  return out;
}

// Checks and places the windows; gives the shape of the result.
Result<Shape> place_windows(Plan& op, const TensorArg& x, const PoolArgs& args, Window& window) {
  Shape shape = x.shape();
  for (u32 i = 0; i < 3; ++i) {
    const bool slides = i >= 3 - args.axes;
    const u32 axis = x.rank() - 3 + i;
    const i64 size = slides ? x.shape()[axis] : 1;
    const i64 kernel = args.kernel[i], dilation = args.dilation[i], span = dilation * (kernel - 1) + 1;
    REQUIRE(op, span <= INT32_MAX / 4, "a kernel of ", kernel, " with dilation ", dilation, " spans too much");
    REQUIRE(op, args.padding[i] <= span / 2, "a padding of ", args.padding[i],
            " is more than half of the kernel, which spans ", span);
    const i64 out = pooled_size(size, kernel, args.stride[i], args.padding[i], dilation, args.ceil);
    REQUIRE_LIVE(op, out >= 1, "a window of ", span, " doesn't fit axis ", axis, " of ", x.shape(), " with padding ",
                 args.padding[i]);
    window.size[i] = u32(size);
    window.out[i] = u32(std::max<i64>(out, 1));
    if (slides) shape[axis] = window.out[i];
    window.kernel[i] = u32(kernel);
    window.stride[i] = u32(args.stride[i]);
    window.padding[i] = u32(args.padding[i]);
    window.dilation[i] = u32(dilation);
  }
  window.count = u32(shape.numel());
  return shape;
}

// How many elements of the largest x a window has along each axis.
Triple clipped(const TensorArg& x, u32 axes, const Triple& kernel) {
  Triple out{1, 1, 1};
  for (u32 i = 3 - axes; i < 3; ++i) out[i] = std::min<i64>(kernel[i], x.max()[x.rank() - 3 + i]);
  return out;
}
u64 rounds(const Triple& window) { return u64(window[0]) * (u64(window[1]) * u64(window[2] + 1) + 1); }

Status require_rounds(Plan& op, const Triple& window) {
  REQUIRE_SUPPORTED(op, rounds(window) <= max_rounds(op.device()), "a window of ", window[0], " x ", window[1], " x ",
                    window[2], " elements is too large for a software adapter; use a GPU");
  return {};
}

// op(x, kernel, stride, padding, dilation, ceil, …)
Status max_pool(Plan& op, u32 axes, const TensorArg& y, std::optional<TensorArg> indices) {
  const TensorArg x = op.tensor(0);
  TRY(PoolArgs args, pool_args(op, axes));
  TRY(args.dilation, triple_of(op, 4, "dilation", axes, 1, {1, 1, 1}));
  args.ceil = op.flag(5);
  TRY_DO(check_tensors(op, x, y, axes));
  REQUIRE(op, !indices || indices->dtype() == DType::i32, "indices are integers, not ", indices->dtype());
  Window window{.number = -std::numeric_limits<f32>::infinity()};
  TRY(const Shape shape, place_windows(op, x, args, window));
  TRY_DO(require_rounds(op, clipped(x, axes, args.kernel)));
  TRY_DO(op.resize(y, shape));
  if (indices) TRY_DO(op.resize(*indices, shape));
  if (y.numel() == 0) return {};
  Bindings bindings;
  bindings.input("x", x);
  bindings.output("y", y, y.dtype());
  bindings.optional_output("indices", indices, DType::i32);
  return bindings.dispatch(op, kernels::max_pool, window, one_thread_per(y.numel(), 64));
}

struct Average {
  bool fixed = false;  // the divisor is given
  bool include_pad = false, adaptive = false;
};

Status average(Plan& op, const Operand& x, DType x_dtype, const Operand& y, DType y_dtype, const Average& how,
               const Window& window) {
  Spec spec;
  spec.flag("FIXED", how.fixed).flag("INCLUDE_PAD", how.include_pad).flag("ADAPTIVE", how.adaptive);
  spec.input("x", x_dtype).output("y", y_dtype);
  return op.dispatch({kernels::avg_pool, spec}, {x, y}, window, one_thread_per(window.count, 64));
}

// The windows along one axis, in volumes that are already averaged along the axes behind it.
Window along(const Window& window, u32 axis, u64 volumes) {
  Window out = window;
  for (u32 i = 0; i < 3; ++i) {
    if (i == axis) continue;
    out.size[i] = out.out[i] = i < axis ? window.size[i] : window.out[i];
    out.kernel[i] = out.stride[i] = 1;
    out.padding[i] = 0;
  }
  out.count = u32(volumes * out.out[0] * out.out[1] * out.out[2]);
  return out;
}

// Large windows are averaged axis by axis: that takes the sum of their sides in time instead of the product.
constexpr u64 large_window = 1024;

Status average(Plan& op, const TensorArg& x, const TensorArg& y, u32 axes, const Average& how, const Window& window,
               const Triple& reach) {
  if (y.numel() == 0 || window.count == 0) return {};
  if (rounds(reach) <= large_window) return average(op, x, x.dtype(), y, y.dtype(), how, window);
  const u64 volumes = y.shape().product(0, y.rank() - axes);
  Operand from = x;
  DType from_dtype = x.dtype();
  for (u32 axis = 2;; --axis) {
    const bool last = axis == 3 - axes;
    Triple side{1, 1, 1};
    side[axis] = reach[axis];
    TRY_DO(require_rounds(op, side));
    Window part = along(window, axis, volumes);
    if (!last) part.number = 1;
    const u32 place = x.rank() - 3 + axis;
    const u64 most = x.max().product(0, place) * y.max().product(place, x.rank());
    const Operand to = last ? Operand(y) : op.scratch(most * sizeof(f32));
    TRY_DO(average(op, from, from_dtype, to, last ? y.dtype() : DType::f32, how, part));
    if (last) return {};
    from = to;
    from_dtype = DType::f32;
  }
}

// op(x, kernel, stride, padding, ceil, count_include_pad, divisor?, out); lines have no divisor
Status avg_pool(Plan& op, u32 axes) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  TRY(PoolArgs args, pool_args(op, axes));
  args.ceil = op.flag(4);
  const bool fixed = axes > 1 && !op.is_null(6);
  const i64 divisor = fixed ? op.integer(6) : 1;
  REQUIRE(op, divisor != 0, "the divisor is 0");
  TRY_DO(check_tensors(op, x, y, axes));
  Window window{.number = f32(divisor)};
  TRY(const Shape shape, place_windows(op, x, args, window));
  TRY_DO(op.resize(y, shape));
  return average(op, x, y, axes, {fixed, op.flag(5), false}, window, clipped(x, axes, args.kernel));
}

// op(x, sizes, out): as many windows as `sizes` says, which cover the input and are as equal as can be.
Status adaptive_avg_pool(Plan& op, u32 axes) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const IntList sizes = op.ints(1);
  TRY_DO(check_tensors(op, x, y, axes));
  REQUIRE(op, sizes.size() == axes, sizes.size(), " sizes are given for ", axes, " axes");
  Shape shape = x.shape();
  Window window{.number = 1};
  Triple reach{1, 1, 1};
  for (u32 i = 3 - axes; i < 3; ++i) {
    const u32 axis = x.rank() - 3 + i;
    const i64 out = sizes[i - (3 - axes)], in = x.shape()[axis], most = x.max()[axis];
    REQUIRE_LIVE(op, out >= 0 && out <= UINT16_MAX, "axis ", axis, " can't have ", out, " windows; at most ",
                 UINT16_MAX, " are possible");
    REQUIRE_LIVE(op, in > 0, "axis ", axis, " of ", x.shape(), " has no elements");
    shape[axis] = u32(std::clamp<i64>(out, 0, UINT16_MAX));
    window.size[i] = u32(in);
    window.out[i] = std::max(shape[axis], 1u);
    reach[i] = std::min<i64>(most / std::max<i64>(out, 1) + 2, most);
  }
  window.count = u32(shape.numel());
  TRY_DO(op.resize(y, shape));
  return average(op, x, y, axes, {.adaptive = true}, window, reach);
}

// max_pool2d(x, kernel, stride, padding, dilation, ceil, out)
Status max_pool2d(Plan& op) { return max_pool(op, 2, op.output(6), std::nullopt); }

// op(x, kernel, stride, padding, dilation, ceil, [out, indices])
template <u32 axes>
Status max_pool_with_indices(Plan& op) {
  return max_pool(op, axes, op.list_output(6, 0), op.list_output(6, 1));
}
template <u32 axes>
Status avg_pool(Plan& op) {
  return avg_pool(op, axes);
}
template <u32 axes>
Status adaptive_avg_pool(Plan& op) {
  return adaptive_avg_pool(op, axes);
}

constexpr auto max_signature =
    "x, kernel: ints, stride: ints?, padding: ints?, dilation: ints?, ceil: flag = false -> [out, indices]"_sig;
constexpr auto avg_signature =
    "x, kernel: ints, stride: ints?, padding: ints?, ceil: flag = false, include_pad: flag = true, divisor: int? "
    "-> out"_sig;

}  // namespace

Result<Triple> triple_of(Plan& op, u32 arg, std::string_view name, u32 axes, i64 least, Triple if_empty) {
  const IntList list = op.ints(arg);
  REQUIRE(op, list.size() <= 1 || list.size() == axes, "the ", name, " has ", list.size(), " numbers; 1 or ", axes,
          " are expected");
  Triple out = if_empty;
  for (u32 i = 3 - axes; i < 3 && !list.empty(); ++i) out[i] = list[list.size() == 1 ? 0 : i - (3 - axes)];
  for (i64 v : out)
    REQUIRE(op, v >= least && v <= INT32_MAX / 4, "the ", name, " is ", v, "; it must be at least ", least);
  return out;
}

static constexpr OpEntry entries[] = {
    {"aten.max_pool2d.default", max_pool2d,
     "x, kernel: ints, stride: ints?, padding: ints?, dilation: ints?, ceil: flag = false -> out"_sig},
    {"aten.max_pool2d_with_indices.default", max_pool_with_indices<2>, max_signature},
    {"aten.max_pool3d_with_indices.default", max_pool_with_indices<3>, max_signature},
    {"aten.avg_pool1d.default", avg_pool<1>,
     "x, kernel: ints, stride: ints?, padding: ints?, ceil: flag = false, include_pad: flag = true -> out"_sig},
    {"aten.avg_pool2d.default", avg_pool<2>, avg_signature},
    {"aten.avg_pool3d.default", avg_pool<3>, avg_signature},
    {"aten.adaptive_avg_pool1d.default", adaptive_avg_pool<1>, "x, sizes: ints -> out"_sig},
    {"aten._adaptive_avg_pool2d.default", adaptive_avg_pool<2>, "x, sizes: ints -> out"_sig},
    {"aten._adaptive_avg_pool3d.default", adaptive_avg_pool<3>, "x, sizes: ints -> out"_sig},
};
extern const OpList pool_ops = entries;

}  // namespace pteron::ops
