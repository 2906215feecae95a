// SPDX-License-Identifier: BSD-3-Clause
// Elementwise ops from int8 to int8.
#include "ops/elementwise.h"
#include "ops/move.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 count = 0, rank = 0;
  f32 a_scale = 1, a_zero = 0, b_scale = 1, b_zero = 0, alpha = 1;
  f32 inverse_scale = 1, zero = 0;
  u32 pad[3] = {};
  u32 dims[8] = {};
  u32 strides[2][8] = {};

  void add_axis(u32 size, i64 a, i64 b) {
    if (size == 1 || rank == 8) return;
    const u32 last = rank - 1;
    if (rank > 0 && a == i64(strides[0][last]) * dims[last] && b == i64(strides[1][last]) * dims[last]) {
      dims[last] *= size;
      return;
    }
    dims[rank] = size;
    strides[0][rank] = u32(a);
    strides[1][rank] = u32(b);
    ++rank;
  }
};

// Strides of a tensor that broadcasts to `shape`, aligned with its axes.
std::array<i64, Shape::max_rank> broadcast_strides(const Shape& from, const Shape& shape) {
  std::array<i64, Shape::max_rank> out{};
  const auto strides = strides_of(from);
  const u32 missing = shape.rank() - from.rank();
  for (u32 i = missing; i < shape.rank(); ++i) out[i] = from[i - missing] == 1 ? 0 : strides[i - missing];
  return out;
}

Status check_int8(Plan& op, const TensorArg& a, const TensorArg& y) {
  REQUIRE(op, a.dtype() == DType::i8 && y.dtype() == DType::i8, "input and result must be int8, not ", a.dtype(),
          " and ", y.dtype());
  return {};
}

// The scale is an argument; this is what values are multiplied with.
Result<f32> inverse_scale(Plan& op, u32 arg) {
  const f64 scale = op.number(arg);
  REQUIRE(op, scale > 0, "the result's scale is ", scale, "; it must be positive");
  return f32(1.0 / scale);
}

Status run(Plan& op, Params& params, const TensorArg& a, const std::optional<TensorArg>& b, const TensorArg& y,
           std::string_view combine) {
  if (y.numel() == 0) return {};
  params.count = u32(y.numel());
  Spec spec;
  spec.bind_input("a", a.dtype());
  if (b) spec.bind_input("b", b->dtype());
  spec.bind_output("y", y.dtype()).use(combine);
  const Kernel kernel(kernels::requantize, spec);
  const Grid grid = one_thread_per_unit(y, 64);
  return b ? op.dispatch(kernel, {a, *b, y}, params, grid) : op.dispatch(kernel, {a, y}, params, grid);
}

// q8ta_add(a, b, a scale, a zero, b scale, b zero, y scale, y zero, alpha, out)
Status q8_add(Plan& op) {
  const TensorArg a = op.tensor(0), b = op.tensor(1), y = op.last_output();
  TRY_DO(check_int8(op, a, y));
  TRY_DO(check_int8(op, b, y));
  Params params;
  params.a_scale = f32(op.number(2));
  params.a_zero = f32(op.number(3));
  params.b_scale = f32(op.number(4));
  params.b_zero = f32(op.number(5));
  TRY(params.inverse_scale, inverse_scale(op, 6));
  params.zero = f32(op.number(7));
  params.alpha = f32(op.number(8));
  TRY(const Shape shape, broadcast(a.shape(), b.shape()));
  TRY_DO(op.resize(y, shape));
  const auto a_strides = broadcast_strides(a.shape(), shape), b_strides = broadcast_strides(b.shape(), shape);
  for (u32 i = shape.rank(); i-- > 0;) params.add_axis(shape[i], a_strides[i], b_strides[i]);
  return run(op, params, a, b, y, "requantize_add");
}

// q8ta_relu(x, x scale, x zero, y scale, y zero, out)
Status q8_relu(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  TRY_DO(check_int8(op, x, y));
  Params params;
  params.a_scale = f32(op.number(1));
  params.a_zero = f32(op.number(2));
  TRY(params.inverse_scale, inverse_scale(op, 3));
  params.zero = f32(op.number(4));
  TRY_DO(op.resize(y, x.shape()));
  params.add_axis(u32(x.numel()), 1, 0);
  return run(op, params, x, std::nullopt, y, "requantize_relu");
}

// q8ta_pixel_shuffle(x, x scale, x zero, 1 / y scale, y zero, factor, out): channels become blocks of pixels.
Status q8_pixel_shuffle(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  TRY_DO(check_int8(op, x, y));
  const i64 factor = op.integer(5);
  REQUIRE(op, x.rank() >= 3, "an image needs at least three axes, not ", x.shape());
  REQUIRE(op, factor >= 1 && factor <= INT16_MAX && x.dim(-3) % (factor * factor) == 0, x.dim(-3),
          " channels can't become blocks of ", factor, " × ", factor, " pixels");
  Params params;
  params.a_scale = f32(op.number(1));
  params.a_zero = f32(op.number(2));
  params.inverse_scale = f32(op.number(3));
  params.zero = f32(op.number(4));
  const u32 r = u32(factor), channels = x.dim(-3) / (r * r), height = x.dim(-2), width = x.dim(-1);
  Shape shape = x.shape();
  shape[x.rank() - 3] = channels;
  shape[x.rank() - 2] = height * r;
  shape[x.rank() - 1] = width * r;
  TRY_DO(op.resize(y, shape));
  const i64 plane = i64(height) * width;
  params.add_axis(r, plane, 0);
  params.add_axis(width, 1, 0);
  params.add_axis(r, plane * r, 0);
  params.add_axis(height, width, 0);
  params.add_axis(channels, plane * r * r, 0);
  params.add_axis(u32(shape.product(0, x.rank() - 3)), plane * x.dim(-3), 0);
  return run(op, params, x, std::nullopt, y, "requantize_keep");
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"et_vk.q8ta_add.default", q8_add,
     "a, b, a_scale: number, a_zero: number, b_scale: number, b_zero: number, scale: number, zero: number, "
     "alpha: number = 1 -> out"_sig,
     lanewise},
    {"et_vk.q8ta_relu.default", q8_relu, "x, x_scale: number, x_zero: number, scale: number, zero: number -> out"_sig,
     lanewise},
    {"et_vk.q8ta_pixel_shuffle.default", q8_pixel_shuffle,
     "x, x_scale: number, x_zero: number, inverse_scale: number, zero: number, factor: int -> out"_sig},
};
extern const OpList requantize_ops = entries;

}  // namespace pteron::ops
