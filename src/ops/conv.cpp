// SPDX-License-Identifier: BSD-3-Clause
#include "ops/conv.h"

#include "ops/conv_columns.h"

#include <cmath>
#include <cstring>

namespace pteron::ops {
namespace {

Status read_axis(Plan& op, ConvAxis& axis, bool transposed) {
  REQUIRE(op, axis.stride >= 1 && axis.stride <= INT16_MAX && axis.dilation >= 1 && axis.dilation <= INT16_MAX,
          "stride ", axis.stride, " and dilation ", axis.dilation, " must be between 1 and ", INT16_MAX);
  REQUIRE(op, axis.pad >= 0 && axis.pad <= INT16_MAX && axis.out_pad >= 0 && axis.out_pad <= INT16_MAX, "padding ",
          axis.pad, " and output padding ", axis.out_pad, " must be between 0 and ", INT16_MAX);
  REQUIRE(op, axis.taps >= 1 && axis.taps <= UINT16_MAX, "a filter of size ", axis.taps, " is not supported");
  const i64 reach = axis.dilation * (i64(axis.taps) - 1) + 1, in = axis.in;
  if (transposed) {
    REQUIRE(op, axis.out_pad < std::max(axis.stride, axis.dilation), "output padding ", axis.out_pad,
            " must be less than stride ", axis.stride, " or dilation ", axis.dilation);
    const i64 out = (in - 1) * axis.stride - 2 * axis.pad + reach + axis.out_pad;
    REQUIRE_LIVE(op, out >= 0 && out <= INT32_MAX, "the result would have ", out, " positions in one axis");
    axis.out = u32(std::max<i64>(out, 0));
    return {};
  }
  REQUIRE_LIVE(op, in + 2 * axis.pad >= reach, "a filter that reaches over ", reach, " positions is larger than the ",
               in + 2 * axis.pad, " of the padded input");
  axis.out = in + 2 * axis.pad < reach ? 0 : u32((in + 2 * axis.pad - reach) / axis.stride + 1);
  return {};
}

// A list of one number stands for all axes.
i64 list_item(const IntList& list, u32 i, i64 if_empty) {
  return list.empty() ? if_empty : list[list.size() == 1 ? 0 : i];
}

}  // namespace

Result<Conv> read_conv(Plan& op, const ConvArgs& args, const TensorArg& x, std::span<const u32> taps, u32 out_channels,
                       bool transposed) {
  const u32 axes = u32(taps.size());
  REQUIRE(op, x.rank() == axes + 2 || x.rank() == axes + 1, "a filter with ", axes,
          " axes can't be moved over an input of shape ", x.shape());
  const i64 groups = op.integer(args.groups);
  Conv conv;
  conv.transposed = transposed;
  conv.axes = axes;
  conv.volume = axes == 3;
  conv.images = x.rank() == axes + 2 ? x.dim(0) : 1;
  conv.in_channels = x.dim(-1 - i32(axes));
  conv.out_channels = out_channels;
  REQUIRE(op, groups >= 1 && groups <= i64(UINT32_MAX) && conv.in_channels % groups == 0 && out_channels % groups == 0,
          "the number of groups ", groups, " does not divide ", conv.in_channels, " input channels and ", out_channels,
          " output channels");
  conv.groups = u32(groups);
  const IntList stride = op.ints(args.stride), pad = op.ints(args.pad), dilation = op.ints(args.dilation);
  const IntList out_pad = args.out_pad ? op.ints(*args.out_pad) : IntList();
  for (const IntList* list : {&stride, &pad, &dilation, &out_pad})
    REQUIRE(op, list->size() <= 1 || list->size() == axes, "a list of ", list->size(), " numbers is given for ", axes,
            " axes");
  for (u32 i = 0; i < axes; ++i) {
    ConvAxis& axis = i + 1 == axes ? conv.x : i + 2 == axes ? conv.y : conv.z;
    axis = {
        x.dim(i32(i) - i32(axes)), taps[i], 1, list_item(stride, i, 1), list_item(pad, i, 0), list_item(dilation, i, 1),
        list_item(out_pad, i, 0)};
    TRY_DO(read_axis(op, axis, transposed));
  }
  conv.out = x.shape();
  conv.out[x.rank() - 1 - axes] = out_channels;
  conv.out[x.rank() - 1] = conv.x.out;
  if (axes >= 2) conv.out[x.rank() - 2] = conv.y.out;
  if (axes == 3) conv.out[x.rank() - 3] = conv.z.out;
  return conv;
}

void set_sizes(Gemm& gemm, const Conv& conv) {
  GemmParams& g = gemm.params;
  g.batches = conv.images * conv.groups;
  g.a_batches = conv.groups;
  g.rows = conv.group_out();
  g.columns = conv.z.out * conv.y.out * conv.x.out;
  g.depth = conv.group_in();
  g.sections_y = conv.z.taps * conv.y.taps;
  g.sections_x = conv.x.taps;
  g.b_step = conv.z.in * conv.y.in * conv.x.in;
  g.b_batch = g.b_step * g.depth;
  g.in_height = conv.y.in;
  g.in_width = conv.x.in;
  g.out_width = conv.x.out;
  g.stride_y = u32(conv.y.stride);
  g.stride_x = u32(conv.x.stride);
  g.pad_y = i32(conv.y.pad);
  g.pad_x = i32(conv.x.pad);
  g.dilation_y = i32(conv.y.dilation);
  g.dilation_x = i32(conv.x.dilation);
  g.in_depth = conv.z.in;
  g.out_height = conv.y.out;
  g.taps_y = conv.y.taps;
  g.stride_z = u32(conv.z.stride);
  g.pad_z = i32(conv.z.pad);
  g.dilation_z = i32(conv.z.dilation);
  gemm.channels_are_rows();
}

void set_image(Gemm& gemm, const Conv& conv, const TensorArg& x, std::optional<i32> zero) {
  set_sizes(gemm, conv);
  gemm.params.b_zero = zero.value_or(0);
  gemm.bind("b", x);
  gemm.flag("VOLUME", conv.volume);
  gemm.flag("TRANSPOSED", conv.transposed);
  gemm.flag("B_CENTERED", zero.has_value());
  gemm.use("image");
  gemm.use("b_image");
}

namespace {

// [channels, others] becomes [others, channels], with channels padded to a multiple of four.
Status pack_channels_last(const Packing& self, Bytes rows, u64, MutableBytes out) {
  const auto [channels, others, size, padded] = self.args;
  const u64 matrix = u64(channels) * others * size;
  for (u64 group = 0; (group + 1) * matrix <= rows.size(); ++group) {
    const std::byte* from = rows.data() + group * matrix;
    std::byte* to = out.data() + group * self.group_bytes;
    for (u64 channel = 0; channel < channels; ++channel)
      for (u64 other = 0; other < others; ++other)
        std::memcpy(to + (other * padded + channel) * size, from + (channel * others + other) * size, size);
  }
  return {};
}

Gemm::Depthwise depthwise(const Conv& conv, ConvColumns columns) {
  if (columns == ConvColumns::strips) return Gemm::by_strips;
  return columns == ConvColumns::image && conv.depthwise() ? Gemm::by_quads : Gemm::none_of_it;
}

// In the file a filter is [OC, IC / groups, taps], transposed [IC, OC / groups, taps]. Constants are repacked so that
// four channels of a tap are one load. Where columns are unfolded, a tap of a channel is a channel.
void set_filter(Gemm& gemm, Plan& op, const Conv& conv, const TensorArg& w, ConvColumns columns) {
  GemmParams& g = gemm.params;
  const bool unfolded = columns == ConvColumns::unfolded;
  const u32 taps = unfolded ? 1 : conv.taps(), in = unfolded ? conv.group_in() * conv.taps() : conv.group_in();
  const u32 out = conv.group_out(), padded = ceil_div(in, 4) * 4;
  g.a_batch = out * in * taps;
  g.a_row = conv.transposed ? taps : in * taps;
  g.a_step = conv.transposed ? out * taps : taps;
  g.a_section = 1;
  const bool as_it_is = taps == 1 && in % 4 == 0 && !conv.transposed;
  const bool by_tap = depthwise(conv, columns) != Gemm::none_of_it;
  if (by_tap || in == 0 || !(op.bytes_are_fixed(w) || as_it_is)) {
    gemm.bind("a", w);
    return gemm.dense_a(Gemm::none);
  }
  if (as_it_is) {
    gemm.bind("a", w);
    return gemm.dense_a(Gemm::along_depth);
  }
  const u32 size = size_of(w.dtype()), others = conv.transposed ? out * taps : taps;
  Packing packing{
      "conv.channels_last",      0, w.dim(0), conv.transposed ? in : 1, u64(others) * padded * size, pack_channels_last,
      {in, others, size, padded}};
  packing.row_bytes = w.numel() / w.dim(0) * size;
  gemm.bind("a", op.packed(std::array{graph::PackedPart{w.id(), packing}}), w.dtype());
  gemm.dense_a(Gemm::along_depth);
  g.a_batch = out * taps * padded;
  g.a_row = taps * padded;
  g.a_section = padded;
}

// convolution(x, weight, bias?, stride, padding, dilation, transposed, output_padding, groups, [min?, max?,] out)
Status convolution(Plan& op) {
  const TensorArg x = op.tensor(0), w = op.tensor(1), y = op.last_output();
  const auto bias = op.maybe_tensor(2);
  const bool transposed = op.flag(6);
  REQUIRE_SUPPORTED(op, is_float(x.dtype()) && is_float(w.dtype()) && is_float(y.dtype()), "a convolution of ",
                    x.dtype(), " values is not supported");
  REQUIRE(op, w.rank() >= 3, "the filter ", w.shape(), " must have at least three axes");
  REQUIRE_SUPPORTED(op, w.rank() <= 5, "a convolution in ", w.rank() - 2,
                    " dimensions is not supported; at most three are");
  const i64 groups = std::max<i64>(op.integer(8), 1);
  REQUIRE(op, groups <= UINT32_MAX / std::max(w.dim(1), 1u), groups, " groups of ", w.dim(1), " channels are too many");
  const u32 out_channels = transposed ? u32(w.dim(1) * groups) : w.dim(0);
  const Shape& filter = w.shape();
  TRY(const Conv conv, read_conv(op, {3, 4, 5, 8, transposed ? std::optional(7u) : std::nullopt}, x,
                                 std::span(filter.begin() + 2, filter.end()), out_channels, transposed));
  REQUIRE(op, (transposed ? w.dim(0) : w.dim(1) * conv.groups) == conv.in_channels, "the filter ", w.shape(), " in ",
          conv.groups, " groups does not fit ", conv.in_channels, " input channels");
  REQUIRE(op, !bias || (bias->numel() >= out_channels && is_float(bias->dtype())), "a bias of ",
          bias ? bias->shape() : Shape(), " does not fit ", out_channels, " output channels");
  TRY_DO(op.resize(y, conv.out));
  if (y.numel() == 0 || out_channels == 0) return {};
  Gemm gemm(op, Gemm::floats);
  TRY(const ConvColumns columns, choose_columns(op, conv, x));
  TRY_DO(set_columns(gemm, op, conv, x, columns));
  set_filter(gemm, op, conv, w, columns);
  gemm.bind_if("bias", bias);
  if (op.entry().detail == "clamp") gemm.clamp(f32(op.number(9)), f32(op.number(10)));
  return gemm.run(y, depthwise(conv, columns));
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.convolution.default", convolution,
     "x, weight, bias?, stride: ints, padding: ints, dilation: ints, transposed: flag = false, output_padding: ints?, "
     "groups: int = 1 -> out"_sig},
    {"et_vk.conv_with_clamp.default", convolution,
     "x, weight, bias?, stride: ints, padding: ints, dilation: ints, transposed: flag = false, output_padding: ints?, "
     "groups: int = 1, low: number = -inf, high: number = inf -> out"_sig,
     graph::plain, "clamp"},
};
extern const OpList conv_ops = entries;

}  // namespace pteron::ops
