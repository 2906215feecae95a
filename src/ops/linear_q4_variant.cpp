// SPDX-License-Identifier: BSD-3-Clause
#include "ops/linear_q4_variant.h"

#include "ops/q4_tiles.h"

#include <algorithm>

namespace pteron::ops {
namespace {

struct TileParts {
  std::array<graph::PackedPart, 3> items;
  u32 count = 0;
  void add(const TensorArg& constant, const Packing& packing) { items[count++] = {constant.id(), packing}; }
  std::span<const graph::PackedPart> all() const { return std::span(items).first(count); }
};

constexpr std::string_view outputs[] = {"y0", "y1", "y2"};

// Numbers in tiles, as the file lets them be kept.
void bind_tiles(Plan& op, std::string_view name, Kept kept, const TileParts& parts, Q4Variant& v) {
  if (parts.count == 0) {
    v.spec.absent_input_quads(name, DType::f32);
    return;
  }
  if (kept == Kept::as_halves)
    v.spec.bind_halves(name);
  else
    v.spec.bind_input_quads(name, DType::f32);
  v.bind(op.packed(parts.all()));
}

void bind_weights(Plan& op, const Q4Linear& l, Q4Variant& v) {
  const auto numbers = std::span(l.parts).first(l.planes ? 1 : l.count);
  const auto kept = [](bool halves) { return halves ? Kept::as_halves : Kept::as_floats; };
  const Kept keep_scales =
      kept(std::ranges::all_of(numbers, [&](const Q4Part& p) { return op.can_be_halves(p.scales); }));
  const Kept keep_minima =
      kept(std::ranges::all_of(numbers, [&](const Q4Part& p) { return p.minimum && op.can_be_halves(*p.minimum); }));
  TileParts weights, scales, biases, minima;
  for (const Q4Part& part : std::span(l.parts).first(l.count))
    weights.add(part.weight, q4_weight_tiles(part.weight, depth_of(l)));
  for (const Q4Part& part : numbers) {
    scales.add(part.scales, q4_scale_tiles(part.scales, columns_of(part), groups_of(l), keep_scales));
    if (part.minimum) minima.add(*part.minimum, q4_row_tiles(*part.minimum, keep_minima));
    if (part.bias) biases.add(*part.bias, q4_bias_tiles(*part.bias, columns_of(part)));
  }
  v.spec.bind_array("w", "vec4u");
  v.bind(op.packed(weights.all()));
  bind_tiles(op, "scale", keep_scales, scales, v);
  bind_tiles(op, "minimum", keep_minima, minima, v);
  bind_tiles(op, "bias", Kept::as_floats, biases, v);
}

void bind_residual(const Q4Linear& l, bool quads, Q4Variant& v) {
  if (!l.residual) {
    quads ? v.spec.absent_input_quads("residual", DType::f32) : v.spec.absent_input("residual", 0);
    return;
  }
  const DType dtype = l.residual->dtype();
  quads ? v.spec.bind_input_quads("residual", dtype) : v.spec.bind_input("residual", dtype);
  v.bind(*l.residual);
}

void bind_outputs(const Q4Linear& l, bool quads, Q4Variant& v) {
  for (u32 i = 0; i < std::size(outputs); ++i) {
    if (i >= l.outputs()) {
      quads ? v.spec.absent_output_quads(outputs[i]) : v.spec.absent_output(outputs[i], DType::f32);
      continue;
    }
    const DType dtype = l.parts[i].y.dtype();
    quads ? v.spec.bind_output_quads(outputs[i], dtype) : v.spec.bind_output(outputs[i], dtype);
    v.bind(l.parts[i].y);
  }
  v.spec.use(quads ? "q4_store_quads" : "q4_store_elements");
}

}  // namespace

std::string_view x_words(DType dtype) { return dtype == DType::i8 ? "vec4u" : dtype == DType::f16 ? "vec4h" : "vec4f"; }

u32 blocks_of(const Q4Part& part) { return ceil_div(columns_of(part), columns_per_block); }

Q4Variant q4_variant(Plan& op, const Q4Linear& l, const Q4Rows& x, const Spec& spec, bool quads) {
  const u32 depth = depth_of(l);
  Q4Variant v;
  v.spec = spec;
  v.spec.flag("NORM", x.normalises)
      .flag("MINIMA", l.parts[0].minimum.has_value())
      .num("SHIFT", l.shift)
      .flag("SWIGLU", l.swiglu)
      .flag("PLANES", l.planes);
  if (x.in_splits)
    v.spec.bind_array("x", "Splits");
  else if (x.uniform > 0)
    v.spec.bind_uniform("x", "vec4f", x.uniform * (depth / 4));
  else
    v.spec.bind_array("x", x_words(x.dtype));
  v.bind(x.uniform > 0 ? Operand(x.data.kind, x.data.index, 0, u64(x.uniform) * depth * 4) : x.data);
  bind_weights(op, l, v);
  v.spec.use(x.normalises ? "q4_norm" : "q4_no_norm");
  if (x.normalises) {
    v.spec.bind_uniform("norm", "vec4f", depth / 4);
    v.bind(Operand(Operand::tensor, l.norm->id(), 0, u64(depth) * 4));
  }
  bind_residual(l, quads, v);
  bind_outputs(l, quads, v);
  return v;
}

}  // namespace pteron::ops
