// SPDX-License-Identifier: BSD-3-Clause
#include "ops/conv_columns.h"

#include "ops/routes.h"

namespace pteron::ops {
namespace {

// As in conv_positions.wgsl. Axes are x, y, z.
struct PositionsParams {
  u32 quads, quads_each, channels, positions, height, width;
  u32 fill[2] = {};
  u32 taps[4], size[4], stride[4];
  i32 pad[4];
  u32 dilation[4];
};

// Scratch memory that a layout may take.
constexpr u64 most_bytes = u64(64) << 20;

u32 quads_each(const Conv& conv, bool unfold) { return ceil_div(conv.group_in() * (unfold ? conv.taps() : 1), 4); }

// Whether the layout fits at every shape of the image. There are no more results than pixels with the margins.
bool fits(Plan& op, const Conv& conv, const TensorArg& x, bool unfold) {
  const Shape& max = x.max();
  const i64 pads[] = {conv.x.pad, conv.y.pad, conv.z.pad};
  f64 quads = f64(max.numel()) / std::max<f64>(1, conv.group_in()) * quads_each(conv, unfold);
  for (u32 i = 0; i < conv.axes; ++i) {
    const f64 size = max[max.rank() - 1 - i];
    quads *= (size + 2 * f64(pads[i])) / std::max(size, 1.0);
  }
  const u64 quad_bytes = u64(4) * size_of(x.dtype());
  return quads * f64(quad_bytes) <= f64(most_bytes) && quads <= f64(op.rows_per_binding(quad_bytes));
}

bool looks_at_itself(const Conv& conv) {
  for (const ConvAxis& axis : {conv.x, conv.y, conv.z})
    if (axis.taps != 1 || axis.stride != 1 || axis.pad != 0 || axis.out != axis.in) return false;
  return true;
}

u32 reached(const ConvAxis& axis) {
  return u32((i64(axis.out) - 1) * axis.stride + axis.dilation * (axis.taps - 1) + 1);
}

Result<Operand> lay_out(Plan& op, const Conv& conv, const TensorArg& x, bool unfold) {
  const ConvAxis axes[] = {conv.x, conv.y, conv.z};
  PositionsParams p{};
  p.quads_each = quads_each(conv, unfold);
  p.channels = conv.group_in();
  p.width = unfold ? conv.x.out : reached(conv.x);
  p.height = unfold ? conv.y.out : reached(conv.y);
  p.positions = p.width * p.height * (unfold ? conv.z.out : reached(conv.z));
  p.quads = conv.images * conv.groups * p.positions * p.quads_each;
  p.taps[3] = conv.taps();
  for (u32 i = 0; i < 3; ++i) {
    p.taps[i] = axes[i].taps;
    p.size[i] = axes[i].in;
    p.stride[i] = unfold ? u32(axes[i].stride) : 1;
    p.pad[i] = i32(axes[i].pad);
    p.dilation[i] = u32(axes[i].dilation);
  }
  const Operand out = op.scratch(u64(p.quads) * 4 * size_of(x.dtype()));
  const Spec spec = Spec().flag("UNFOLD", unfold).input_quads("x", x.dtype()).output_quads("y", x.dtype());
  TRY_DO(op.dispatch({kernels::conv_positions, spec}, {x, out}, p, one_thread_per(p.quads, 64)));
  return out;
}

// Strips are as wide as eight results.
Result<ConvColumns> choose_depthwise(Plan& op, const Conv& conv, const TensorArg& x) {
  if (conv.volume || conv.x.stride > 2 || conv.x.dilation > 1 || !op.branch(conv.x.out >= 8)) return ConvColumns::image;
  TRY(const std::string_view route,
      choose_route(op, "depthwise",
                   {conv.y.out, conv.taps(), conv.x.out, conv.images * conv.groups, op.shape_is_fixed(x)}));
  return route == "strips" ? ConvColumns::strips : ConvColumns::image;
}

}  // namespace

Result<ConvColumns> choose_columns(Plan& op, const Conv& conv, const TensorArg& x) {
  if (conv.transposed || conv.group_in() == 0) return ConvColumns::image;
  if (conv.depthwise() && conv.group_out() == 1) return choose_depthwise(op, conv, x);
  const u32 columns = conv.z.out * conv.y.out * conv.x.out;
  if (looks_at_itself(conv) && !conv.depthwise() && in_fours(op, columns, op.shape_is_fixed(x)))
    return ConvColumns::plane;
  const u32 batches = conv.images * conv.groups;
  TRY(const std::string_view route,
      choose_route(op, "conv", {conv.group_out(), conv.group_in(), columns, batches, op.shape_is_fixed(x)}));
  const bool unfold = route == "unfolded";
  if (route == "image" || !fits(op, conv, x, unfold)) return ConvColumns::image;
  return unfold ? ConvColumns::unfolded : ConvColumns::positions;
}

Status set_columns(Gemm& gemm, Plan& op, const Conv& conv, const TensorArg& x, ConvColumns columns) {
  GemmParams& g = gemm.params;
  if (columns == ConvColumns::image) {
    set_image(gemm, conv, x);
    return {};
  }
  set_sizes(gemm, conv);
  if (columns == ConvColumns::strips) {
    gemm.bind("b", x);
    gemm.number("APART", u32(conv.x.stride));
    return {};
  }
  if (columns == ConvColumns::plane) {
    g.b_column = 1;
    gemm.bind("b", x);
    gemm.dense_b(Gemm::along_columns);
    return {};
  }
  const bool unfold = columns == ConvColumns::unfolded;
  TRY(const Operand laid_out, lay_out(op, conv, x, unfold));
  gemm.bind("b", laid_out, x.dtype());
  g.b_step = quads_each(conv, unfold);
  if (!unfold) {
    g.in_width = reached(conv.x);
    g.in_height = reached(conv.y);
    g.b_batch = g.in_width * g.in_height * reached(conv.z) * g.b_step;
    gemm.flag("VOLUME", conv.volume);
    gemm.use("b_positions");
    return {};
  }
  g.depth = conv.group_in() * conv.taps();
  g.sections_y = g.sections_x = 1;
  g.b_column = 4 * g.b_step;
  g.b_batch = g.columns * g.b_column;
  g.b_step = 1;
  gemm.dense_b(Gemm::along_depth);
  return {};
}

}  // namespace pteron::ops
