// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of int8 images with int8 filters, in exact integer sums, to an int8 result.
#include "ops/conv.h"

namespace pteron::ops {
namespace {

// In the file a filter is [OC, taps · IC / groups] with rows padded to whole words, channels innermost (also for a
// transposed convolution); a depthwise one is [KH, KW, OC].
Status set_filter(Gemm& gemm, Plan& op, const Conv& conv, const TensorArg& w, bool depthwise) {
  GemmParams& g = gemm.params;
  const u32 in = conv.group_in(), out = conv.group_out(), depth = conv.taps() * in;
  if (depthwise) {
    REQUIRE(op, w.rank() == 3 && w.dim(0) == conv.y.taps && w.dim(1) == conv.x.taps && in == 1,
            "a depthwise filter of shape ", w.shape(), " does not fit ", conv.y.taps, " × ", conv.x.taps, " taps in ",
            conv.groups, " groups");
    g.a_batch = out;
    g.a_row = 1;
    g.a_section = conv.out_channels;
  } else {
    REQUIRE(op, w.rank() == 2 && w.dim(1) >= depth, "filters of shape ", w.shape(), " don't hold ", conv.taps(),
            " taps of ", in, " channels");
    g.a_batch = out * w.dim(1);
    g.a_row = w.dim(1);
    g.a_section = in;
  }
  gemm.bind("a", w);
  gemm.dense_a(!conv.depthwise() && in % 4 == 0 && w.dim(1) % 4 == 0 ? Gemm::along_depth : Gemm::none);
  return {};
}

// q8ta_conv2d(x i8, x scale, x zero, weight i8, weight sums, scales, y scale, y zero, bias?, kernel, stride, padding,
//             [output padding if transposed,] dilation, groups, activation, out i8)
Status convolve(Plan& op) {
  const bool transposed = op.entry().detail == "transposed", depthwise = op.entry().detail == "depthwise";
  const TensorArg x = op.tensor(0), w = op.tensor(3), scales = op.tensor(5), y = op.last_output();
  const auto bias = op.maybe_tensor(8);
  REQUIRE(op, x.dtype() == DType::i8 && w.dtype() == DType::i8 && y.dtype() == DType::i8,
          "input, filter and result must be int8, not ", x.dtype(), ", ", w.dtype(), " and ", y.dtype());
  REQUIRE(op, w.rank() >= 2, "the filter ", w.shape(), " must have at least two axes");
  const IntList kernel = op.ints(9);
  REQUIRE(op,
          kernel.size() == 2 && kernel[0] > 0 && kernel[0] <= UINT16_MAX && kernel[1] > 0 && kernel[1] <= UINT16_MAX,
          "the filter's size must be two positive numbers");
  const u32 taps[] = {u32(kernel[0]), u32(kernel[1])};
  const u32 after = transposed ? 1 : 0, out_channels = depthwise ? w.dim(-1) : w.dim(0);
  const ConvArgs args{10, 11, 12 + after, 13 + after, transposed ? std::optional(12u) : std::nullopt};
  TRY(const Conv conv, read_conv(op, args, x, taps, out_channels, transposed));
  REQUIRE(op, scales.numel() >= out_channels && is_float(scales.dtype()), "scales ", scales.shape(), " don't fit ",
          out_channels, " output channels");
  REQUIRE(op, !bias || (bias->numel() >= out_channels && is_float(bias->dtype())), "a bias of ",
          bias ? bias->shape() : Shape(), " does not fit ", out_channels, " output channels");
  TRY_DO(op.resize(y, conv.out));
  Gemm gemm(op, Gemm::integers);
  TRY(const i32 zero, zero_point(op, 2));
  set_image(gemm, conv, x, zero);
  TRY_DO(set_filter(gemm, op, conv, w, depthwise));
  gemm.params.factor = f32(op.number(1));
  gemm.bind("scale", scales);
  gemm.bind_if("bias", bias);
  TRY_DO(gemm.quantize(6, 7, 14 + after));
  if (y.numel() == 0) return {};
  return gemm.run(y, conv.depthwise() ? Gemm::by_quads : Gemm::none_of_it);
}

constexpr OpFamily conv_q8{
    convolve,
    "x, x_scale: number, x_zero: int, weight, shape sums, scales, y_scale: number, y_zero: int, bias?, kernel: ints, "
    "stride: ints, padding: ints, dilation: ints, groups: int = 1, activation: text = none -> out"_sig};

}  // namespace

static constexpr OpEntry entries[] = {
    {"et_vk.q8ta_conv2d.default", conv_q8},
    {"et_vk.q8ta_conv2d_pw.default", conv_q8},
    {"et_vk.q8ta_conv2d_dw.default", conv_q8, "depthwise"},
    {"et_vk.q8ta_conv2d_transposed.default", convolve,
     "x, x_scale: number, x_zero: int, weight, shape sums, scales, y_scale: number, y_zero: int, bias?, kernel: ints, "
     "stride: ints, padding: ints, output_padding: ints, dilation: ints, groups: int = 1, activation: text = none -> out"_sig,
     graph::plain, "transposed"},
};
extern const OpList conv_q8_ops = entries;

}  // namespace pteron::ops
