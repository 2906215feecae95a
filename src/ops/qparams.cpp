// SPDX-License-Identifier: BSD-3-Clause
// Choosing a scale and a zero point for values that are to be quantised.
#include "ops/move.h"

#include <cfloat>

namespace pteron::ops {
namespace {

// Snippets with the function `choose`.
constexpr std::string_view asymmetric = "qparams_asymmetric", symmetric = "qparams_symmetric",
                           symmetric_unclipped = "qparams_symmetric_unclipped", nearer_end = "qparams_nearer_end";

struct Params {
  u32 blocks = 1, block = 0, rank = 0;
  f32 low = -128, high = 127, eps = FLT_EPSILON;
  u32 pad[2] = {};
  u32 counts[8] = {}, sizes[8] = {}, strides[8] = {};
};

Status run(Plan& op, const TensorArg& x, const Shape& out, Params& params, std::string_view choose) {
  const u32 results = op.arity() - 1;
  const TensorArg scale = op.list_output(results, 0), zero = op.list_output(results, 1);
  REQUIRE(op,
          is_float(x.dtype()) && is_float(scale.dtype()) && !is_float(zero.dtype()) && zero.dtype() != DType::boolean,
          "input ", x.dtype(), ", scale ", scale.dtype(), " and zero point ", zero.dtype(),
          " should be two floating-point numbers and an integer");
  REQUIRE(op, params.low < params.high, "the quantised values range from ", params.low, " to ", params.high);
  REQUIRE_LIVE(op, x.numel() > 0, "an empty tensor has no least and greatest value");
  TRY_DO(op.resize(scale, out));
  TRY_DO(op.resize(zero, out));
  if (x.numel() == 0) return {};
  const u32 unit = graph::elements_per_unit(zero.dtype());
  const Spec spec =
      Spec().input("x", x.dtype()).output("scale", scale.dtype()).output("zero", zero.dtype()).use(choose);
  return op.dispatch({kernels::qparams, spec}, {x, scale, zero}, params, one_group_per(ceil_div(params.blocks, unit)));
}

void set_whole(Params& params, u64 blocks, u64 block) {
  params.blocks = params.counts[0] = u32(blocks);
  params.block = params.sizes[0] = u32(block);
  params.strides[0] = 1;
  params.rank = 1;
}

// choose_qparams(x, low, high, eps, dtype, [scale [1], zero [1]])
Status per_tensor(Plan& op) {
  const TensorArg x = op.tensor(0);
  Params params;
  params.low = f32(op.number(1));
  params.high = f32(op.number(2));
  params.eps = f32(op.number(3));
  set_whole(params, 1, x.numel());
  return run(op, x, {1}, params, asymmetric);
}

// choose_qparams_per_token_asymmetric(x[.., K], dtype, [scale [.., 1], zero [.., 1]])
Status per_token(Plan& op) {
  const TensorArg x = op.tensor(0);
  REQUIRE(op, x.rank() >= 1, "a scalar has no rows");
  Params params;
  set_whole(params, x.rows(), x.dim(-1));
  Shape out = x.shape();
  out[out.rank() - 1] = 1;
  return run(op, x, out, params, nearer_end);
}

Result<std::string_view> mapping(Plan& op, u32 arg) {
  const std::string_view name = op.text(arg);
  if (name == "ASYMMETRIC") return asymmetric;
  if (name == "SYMMETRIC") return symmetric;
  if (name == "SYMMETRIC_NO_CLIPPING_ERR") return symmetric_unclipped;
  return unsupported("the mapping '", name, "' is not supported");
}

// torchao.choose_qparams_affine(x, mapping, block sizes, dtype, low, high, eps?, scale dtype, zero dtype, [keepdim,]
//                               [scale, zero])
Status affine(Plan& op) {
  const TensorArg x = op.tensor(0);
  const IntList blocks = op.ints(2);
  const bool keep = op.flag(9);
  TRY(const std::string_view choose, mapping(op, 1));
  REQUIRE(op, blocks.size() == x.rank(), blocks.size(), " block sizes are given for ", x.shape());
  REQUIRE_SUPPORTED(op, !op.is_null(4) && !op.is_null(5),
                    "choosing a scale without the range of the quantised values is not supported");
  Params params;
  params.low = f32(op.number(4));
  params.high = f32(op.number(5));
  params.eps = f32(op.number_or(6, x.dtype() == DType::f16 ? 6.103515625e-05 : FLT_MIN));
  params.rank = x.rank();
  params.block = 1;
  Shape out;
  const auto strides = strides_of(x.shape());
  for (u32 i = 0; i < x.rank(); ++i) {
    const u32 axis = x.rank() - 1 - i;
    const i64 size = std::min<i64>(blocks[axis], x.shape()[axis]);
    REQUIRE_LIVE(op, size > 0 && x.shape()[axis] % size == 0, "a block of ", blocks[axis], " does not divide axis ",
                 axis, " of ", x.shape());
    params.sizes[i] = u32(std::max<i64>(size, 1));
    params.counts[i] = x.shape()[axis] / params.sizes[i];
    params.strides[i] = u32(strides[axis]);
    params.block *= params.sizes[i];
    params.blocks *= params.counts[i];
  }
  // Without keepdim, an axis that is one block of several elements is dropped.
  for (u32 axis = 0; axis < x.rank(); ++axis) {
    const u32 i = x.rank() - 1 - axis;
    const bool whole = blocks[axis] >= x.max()[axis] && blocks[axis] > 1;
    if (keep || !whole) out.push_back(params.counts[i]);
  }
  return run(op, x, out, params, choose);
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"quantized_decomposed.choose_qparams.tensor", per_tensor,
     "x, low: number, high: number, eps: number = 1.1920929e-07, dtype: any -> [scale, zero]"_sig},
    {"quantized_decomposed.choose_qparams_per_token_asymmetric.default", per_token,
     "x, dtype: any -> [scale, zero]"_sig},
    {"torchao.choose_qparams_affine.default", affine,
     "x, mapping: text, blocks: ints, dtype: any, low: number?, high: number?, eps: number?, scale_dtype: any, "
     "zero_dtype: any, keepdim: flag = false -> [scale, zero]"_sig},
};
extern const OpList qparams_ops = entries;

}  // namespace pteron::ops
