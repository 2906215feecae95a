// SPDX-License-Identifier: BSD-3-Clause
// Pooling over planes of [batch, channels, height, width] or [channels, height, width].
#include "ops/common.h"

#include <limits>

namespace pteron::ops {
namespace {

using Pair = std::array<i64, 2>;  // height, width

struct Window {
  u32 count;
  f32 number;  // the lowest value, or the divisor
  u32 size[2], out[2], kernel[2], stride[2], padding[2], dilation[2];
};

// One number for both axes, or one each.
Result<Pair> pair_of(Plan& op, u32 arg, std::string_view name, i64 least, Pair if_empty) {
  const IntList list = op.ints(arg);
  REQUIRE(op, list.size() <= 2, "the ", name, " has ", list.size(), " numbers; 1 or 2 are expected");
  const Pair out = list.empty() ? if_empty : Pair{list[0], list[list.size() - 1]};
  for (i64 v : out)
    REQUIRE(op, v >= least && v <= INT32_MAX / 4, "the ", name, " is ", v, "; it must be at least ", least);
  return out;
}

struct PoolArgs {
  Pair kernel, stride, padding, dilation{1, 1};
  bool ceil = false;
};

// op(x, kernel, stride, padding, …)
Result<PoolArgs> pool_args(Plan& op) {
  PoolArgs out;
  TRY(out.kernel, pair_of(op, 1, "kernel", 1, {0, 0}));
  TRY(out.stride, pair_of(op, 2, "stride", 1, out.kernel));
  TRY(out.padding, pair_of(op, 3, "padding", 0, {0, 0}));
  return out;
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
Result<Shape> place_windows(Plan& op, const TensorArg& x, const TensorArg& y, const PoolArgs& args, Window& window) {
  REQUIRE(op, x.rank() == 3 || x.rank() == 4, "pooling needs [batch, channels, height, width] or without batch, not ",
          x.shape());
  REQUIRE(op, is_float(x.dtype()) && x.dtype() == y.dtype(), "pooling needs floating-point tensors of one type, not ",
          x.dtype(), " and ", y.dtype());
  REQUIRE_SUPPORTED(op, u64(args.kernel[0]) * u64(args.kernel[1] + 1) <= max_rounds(op.device()), "a kernel of ",
                    args.kernel[0], " by ", args.kernel[1], " is too large for a software adapter; use a GPU");
  Shape shape = x.shape();
  for (u32 i = 0; i < 2; ++i) {
    const u32 axis = x.rank() - 2 + i;
    const i64 kernel = args.kernel[i], dilation = args.dilation[i], span = dilation * (kernel - 1) + 1;
    REQUIRE(op, span <= INT32_MAX / 4, "a kernel of ", kernel, " with dilation ", dilation, " spans too much");
    REQUIRE(op, args.padding[i] <= span / 2, "a padding of ", args.padding[i],
            " is more than half of the kernel, which spans ", span);
    const i64 out = pooled_size(x.shape()[axis], kernel, args.stride[i], args.padding[i], dilation, args.ceil);
    REQUIRE_LIVE(op, out >= 1, "a window of ", span, " doesn't fit axis ", axis, " of ", x.shape(), " with padding ",
                 args.padding[i]);
    shape[axis] = u32(std::max<i64>(out, 1));
    window.size[i] = x.shape()[axis];
    window.out[i] = shape[axis];
    window.kernel[i] = u32(kernel);
    window.stride[i] = u32(args.stride[i]);
    window.padding[i] = u32(args.padding[i]);
    window.dilation[i] = u32(dilation);
  }
  window.count = u32(shape.numel());
  return shape;
}

// op(x, kernel, stride, padding, dilation, ceil, …)
Status max_pool(Plan& op, const TensorArg& y, std::optional<TensorArg> indices) {
  const TensorArg x = op.tensor(0);
  TRY(PoolArgs args, pool_args(op));
  TRY(args.dilation, pair_of(op, 4, "dilation", 1, {1, 1}));
  args.ceil = op.flag(5);
  REQUIRE(op, !indices || indices->dtype() == DType::i32, "indices are integers, not ", indices->dtype());
  Window window{0, -std::numeric_limits<f32>::infinity()};
  TRY(const Shape shape, place_windows(op, x, y, args, window));
  TRY_DO(op.resize(y, shape));
  if (indices) TRY_DO(op.resize(*indices, shape));
  if (y.numel() == 0) return {};
  Spec spec;
  spec.bind_input("x", x.dtype()).bind_output("y", y.dtype());
  if (indices) spec.bind_output("indices", indices->dtype());
  spec.code(indices ? "fn keep(i: u32, index: i32) { indices[i] = index; }" : "fn keep(i: u32, index: i32) {}");
  const std::array<Operand, 3> operands{x, y, indices ? Operand(*indices) : Operand()};
  return op.dispatch({kernels::max_pool, spec}, std::span(operands).first(indices ? 3 : 2),
                     std::as_bytes(std::span(&window, 1)), one_thread_per(y.numel(), 64));
}

// max_pool2d(x, kernel, stride, padding, dilation, ceil, out)
Status max_pool2d(Plan& op) { return max_pool(op, op.output(6), std::nullopt); }

// max_pool2d_with_indices(x, kernel, stride, padding, dilation, ceil, [out, indices])
Status max_pool2d_with_indices(Plan& op) { return max_pool(op, op.list_output(6, 0), op.list_output(6, 1)); }

// avg_pool2d(x, kernel, stride, padding, ceil, count_include_pad, divisor?, out)
Status avg_pool2d(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.output(7);
  TRY(PoolArgs args, pool_args(op));
  args.ceil = op.flag(4);
  const bool fixed = !op.is_null(6);
  const i64 divisor = op.integer_or(6, 1);
  REQUIRE(op, divisor != 0, "the divisor is 0");
  Window window{0, f32(divisor)};
  TRY(const Shape shape, place_windows(op, x, y, args, window));
  TRY_DO(op.resize(y, shape));
  if (y.numel() == 0) return {};
  Spec spec;
  spec.flag("FIXED", fixed).flag("INCLUDE_PAD", op.flag(5)).input("x", x.dtype()).output("y", y.dtype());
  return op.dispatch({kernels::avg_pool, spec}, {x, y}, window, one_thread_per(y.numel(), 64));
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.max_pool2d.default", max_pool2d,
     "x, kernel: ints, stride: ints?, padding: ints?, dilation: ints?, ceil: flag = false -> out"_sig},
    {"aten.max_pool2d_with_indices.default", max_pool2d_with_indices,
     "x, kernel: ints, stride: ints?, padding: ints?, dilation: ints?, ceil: flag = false -> [out, indices]"_sig},
    {"aten.avg_pool2d.default", avg_pool2d,
     "x, kernel: ints, stride: ints?, padding: ints?, ceil: flag = false, include_pad: flag = true, divisor: int? "
     "-> out"_sig},
};
extern const OpList pool_ops = entries;

}  // namespace pteron::ops
