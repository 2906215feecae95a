// SPDX-License-Identifier: BSD-3-Clause
// Floating-point numbers to integers with a scale and a zero point, and back: for a whole tensor, per channel, per row
// or per block.
#include "ops/common.h"

#include <algorithm>

namespace pteron::ops {
namespace {

// Snippets with the function `convert`.
constexpr std::string_view to_integers = "quantize_to_integers", to_floats = "quantize_to_floats",
                           to_integers_per_token = "quantize_to_integers_per_token";

struct Params {
  u32 count = 0, rank = 0;
  f32 scale = 1, inverse_scale = 1, zero = 0, low = 0, high = 0;
  u32 pad = 0;
  u32 dims[8] = {}, blocks[8] = {}, strides[8] = {};
};

// How a tensor is cut into blocks that share a scale.
struct Blocks {
  Shape sizes;  // of a block, one per axis
  u64 count = 1;

  static Blocks whole(const Shape& shape) { return {shape, 1}; }
  static Blocks along(const Shape& shape, u32 axis) {
    Blocks b{shape, shape[axis]};
    b.sizes[axis] = 1;
    return b;
  }
  static Blocks rows(const Shape& shape) {
    Blocks b{shape, shape.product(0, shape.rank() - 1)};
    for (u32 i = 0; i + 1 < shape.rank(); ++i) b.sizes[i] = 1;
    return b;
  }
};

Result<Blocks> read_blocks(Plan& op, u32 arg, const Shape& shape) {
  const IntList list = op.ints(arg);
  REQUIRE(op, list.size() == shape.rank(), list.size(), " block sizes are given for ", shape);
  Blocks out{shape, 1};
  for (u32 i = 0; i < shape.rank(); ++i) {
    // A block as large as the largest size of its axis covers whatever is there.
    const i64 size = std::min<i64>(list[i], shape[i]);
    REQUIRE_LIVE(op, size > 0 ? shape[i] % size == 0 : shape[i] == 0, "a block of ", list[i], " does not divide axis ",
                 i, " of ", shape);
    out.sizes[i] = u32(std::max<i64>(size, 1));
    out.count *= shape[i] / out.sizes[i];
  }
  return out;
}

// Innermost first; neighbours that are cut in the same way become one axis.
void set_blocks(Params& params, const Shape& shape, const Blocks& blocks) {
  u32 stride = 1;
  for (u32 i = shape.rank(); i-- > 0;) {
    const u32 size = shape[i], block = blocks.sizes[i];
    const u32 last = params.rank - 1;
    if (size == 1) continue;
    const bool merges = params.rank > 0 && (block == size ? params.blocks[last] == params.dims[last]
                                                          : block == 1 && params.blocks[last] == 1);
    if (merges) {
      params.dims[last] *= size;
      params.blocks[last] *= block;
    } else {
      params.dims[params.rank] = size;
      params.blocks[params.rank] = block;
      params.strides[params.rank] = stride;
      ++params.rank;
    }
    stride *= size / block;
  }
}

// The integers that a dtype holds, or what the arguments say.
Status set_range(Plan& op, Params& params, DType dtype, u32 low, u32 high) {
  const f64 least = dtype == DType::u8 ? 0 : dtype == DType::i8 ? -128 : -2147483648.0;
  const f64 most = dtype == DType::u8 ? 255 : dtype == DType::i8 ? 127 : 2147483520.0;  // the largest below 2³¹ in f32
  const f64 first = op.number_or(low, least), last = op.number_or(high, most);
  REQUIRE(op, is_float(dtype) || (first >= least && last < most + (dtype == DType::i32 ? 128 : 1)),
          "the quantised values range from ", first, " to ", last, ", which ", dtype, " does not hold");
  params.low = f32(std::clamp(first, least, most));
  params.high = f32(std::clamp(last, least, most));
  REQUIRE(op, params.low <= params.high, "the quantised values range from ", params.low, " to ", params.high);
  return {};
}

bool holds_integers(DType t) { return t == DType::i8 || t == DType::u8 || t == DType::i32; }

struct Conversion {
  TensorArg x, y;
  std::string_view convert;  // a snippet
  Blocks blocks;
  std::optional<TensorArg> scales, zeros;
  Params params = {};
};

Status run(Plan& op, Conversion& c) {
  const bool quantizes = is_float(c.x.dtype());
  REQUIRE_SUPPORTED(op, quantizes ? holds_integers(c.y.dtype()) : holds_integers(c.x.dtype()) && is_float(c.y.dtype()),
                    "a conversion from ", c.x.dtype(), " to ", c.y.dtype(), " is not supported");
  REQUIRE(op, c.convert == to_floats ? !quantizes : quantizes, "the input is ", c.x.dtype(), " and the result ",
          c.y.dtype(), "; it should be the other way round");
  REQUIRE(op, !c.scales || is_float(c.scales->dtype()), "the scales must be floating-point, not ", c.scales->dtype());
  REQUIRE_LIVE(op, !c.scales || c.scales->numel() >= c.blocks.count, "there are ", c.scales->numel(), " scales for ",
               c.blocks.count, " blocks of ", c.x.shape());
  REQUIRE_LIVE(op, !c.zeros || c.zeros->numel() >= c.blocks.count, "there are ", c.zeros->numel(), " zero points for ",
               c.blocks.count, " blocks of ", c.x.shape());
  TRY_DO(op.resize(c.y, c.x.shape()));
  if (c.x.numel() == 0) return {};
  c.params.count = u32(c.y.numel());
  if (c.blocks.count > 1 || c.blocks.sizes.numel() != c.y.numel()) set_blocks(c.params, c.x.shape(), c.blocks);
  Spec spec;
  std::array<Operand, 4> operands;
  u32 count = 0;
  const auto bind = [&](std::string_view name, const TensorArg& t) {
    spec.bind_input(name, t.dtype());
    operands[count++] = t;
  };
  bind("x", c.x);
  if (c.scales) bind("scale", *c.scales);
  if (c.zeros) bind("zero", *c.zeros);
  spec.bind_output("y", c.y.dtype());
  operands[count++] = c.y;
  spec.use(c.scales ? "quantize_many_scales" : "quantize_one_scale")
      .use(c.zeros ? "quantize_many_zeros" : "quantize_one_zero")
      .use(c.convert);
  return op.dispatch({kernels::quantize, spec}, std::span(operands).first(count),
                     std::as_bytes(std::span(&c.params, 1)), one_thread_per_unit(c.y, 64));
}

// A zero point of Null, or a tensor without elements, counts as 0.
std::optional<TensorArg> zero_points(Plan& op, u32 arg) {
  const auto zeros = op.maybe_tensor(arg);
  return zeros && zeros->max().numel() > 0 ? zeros : std::nullopt;
}

// quantize_per_tensor(x, scale, zero, low, high, dtype, out), or the other way round: scale and zero are numbers.
Status with_numbers(Plan& op) {
  Conversion c{op.tensor(0), op.last_output(), op.entry().detail, {}, {}, {}};
  const f64 scale = op.number(1);
  REQUIRE(op, scale != 0, "the scale is 0");
  c.blocks = Blocks::whole(c.x.shape());
  c.params.scale = f32(scale);
  c.params.inverse_scale = f32(1.0 / scale);
  c.params.zero = f32(op.number(2));
  TRY_DO(set_range(op, c.params, c.y.dtype(), 3, 4));
  return run(op, c);
}

// The same with tensors of one element.
Status with_tensors(Plan& op) {
  Conversion c{op.tensor(0), op.last_output(), op.entry().detail, {}, op.tensor(1), op.tensor(2)};
  c.blocks = Blocks::whole(c.x.shape());
  TRY_DO(set_range(op, c.params, c.y.dtype(), 3, 4));
  return run(op, c);
}

// quantize_per_channel(x, scales, zeros?, axis, low, high, dtype, out)
Status with_channels(Plan& op) {
  Conversion c{op.tensor(0), op.last_output(), op.entry().detail, {}, op.tensor(1), zero_points(op, 2)};
  REQUIRE(op, c.x.rank() >= 1, "a scalar has no channels");
  c.blocks = Blocks::along(c.x.shape(), op.axis(3, c.x.rank()));
  TRY_DO(set_range(op, c.params, c.y.dtype(), 4, 5));
  return run(op, c);
}

// quantize_per_token(x, scales, zeros, low, high, dtype, out)
Status with_tokens(Plan& op) {
  Conversion c{op.tensor(0), op.last_output(), op.entry().detail, {}, op.tensor(1), zero_points(op, 2)};
  REQUIRE(op, c.x.rank() >= 1, "a scalar has no rows");
  c.blocks = Blocks::rows(c.x.shape());
  TRY_DO(set_range(op, c.params, c.y.dtype(), 3, 4));
  return run(op, c);
}

// torchao.quantize_affine(x, block sizes, scales, zeros?, dtype, low?, high?, out)
Status with_blocks(Plan& op) {
  Conversion c{op.tensor(0), op.last_output(), op.entry().detail, {}, op.tensor(2), zero_points(op, 3)};
  TRY(c.blocks, read_blocks(op, 1, c.x.shape()));
  TRY_DO(set_range(op, c.params, c.y.dtype(), 5, 6));
  return run(op, c);
}

constexpr OpFamily per_tensor{
    with_numbers, "x, scale: number, zero: number, low: number?, high: number?, dtype: any, ... -> out"_sig, lanewise};
constexpr OpFamily per_tensor_tensor{
    with_tensors, "x, scale, zero, low: number?, high: number?, dtype: any, ... -> out"_sig, lanewise};
constexpr OpFamily per_channel{with_channels,
                               "x, scales, zeros?, axis: int, low: number?, high: number?, dtype: any, ... -> out"_sig};
constexpr OpFamily per_token{with_tokens, "x, scales, zeros?, low: number?, high: number?, dtype: any, ... -> out"_sig};
constexpr OpFamily affine{with_blocks,
                          "x, blocks: ints, scales, zeros?, dtype: any, low: number?, high: number?, ... -> out"_sig};

}  // namespace

static constexpr OpEntry entries[] = {
    {"quantized_decomposed.quantize_per_tensor.default", per_tensor, to_integers},
    {"quantized_decomposed.quantize_per_tensor.tensor", per_tensor_tensor, to_integers},
    {"quantized_decomposed.quantize_per_channel.default", per_channel, to_integers},
    {"quantized_decomposed.quantize_per_token.default", per_token, to_integers_per_token},
    {"torchao.quantize_affine.default", affine, to_integers},
    {"quantized_decomposed.dequantize_per_tensor.default", per_tensor, to_floats},
    {"quantized_decomposed.dequantize_per_tensor.tensor", per_tensor_tensor, to_floats},
    {"quantized_decomposed.dequantize_per_channel.default", per_channel, to_floats},
    {"quantized_decomposed.dequantize_per_token.default", per_token, to_floats},
    {"torchao.dequantize_affine.default", affine, to_floats},
};
extern const OpList quantize_ops = entries;

}  // namespace pteron::ops
