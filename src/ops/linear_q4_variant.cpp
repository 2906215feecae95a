// SPDX-License-Identifier: BSD-3-Clause
#include "ops/linear_q4_variant.h"

#include "ops/q4_tiles.h"

namespace pteron::ops {
namespace {

struct TileParts {
  std::array<graph::PackedPart, 3> items;
  u32 count = 0;
  void add(const TensorArg& constant, const Packing& packing) { items[count++] = {constant.id(), packing}; }
  std::span<const graph::PackedPart> all() const { return std::span(items).first(count); }
};

constexpr std::string_view no_norm = "fn norm_at(i: u32) -> vec4f { return vec4f(1.0); }";
constexpr std::string_view with_norm = "fn norm_at(i: u32) -> vec4f { return norm[i]; }";
constexpr std::string_view scale4 = "fn scale4(i: u32) -> vec4f { return scales[i]; }";
constexpr std::string_view no_correction = "fn correction4(i: u32) -> vec4f { return vec4f(0.0); }";
constexpr std::string_view with_correction = "fn correction4(i: u32) -> vec4f { return corrections[i]; }";
constexpr std::string_view no_bias = "fn bias_at(i: u32) -> vec4f { return vec4f(0.0); }";
constexpr std::string_view with_bias = "fn bias_at(i: u32) -> vec4f { return bias[i]; }";
constexpr std::string_view no_residual = "fn residual_get(i: u32) -> f32 { return 0.0; }";
constexpr std::string_view no_residual_quad = "fn residual_quad(i: u32) -> vec4f { return vec4f(0.0); }";
constexpr std::string_view swiglu = "fn pair(a: vec4f, b: vec4f) -> vec4f { return a / (1.0 + exp(-a)) * b; }";
constexpr std::string_view planes = "fn pair(a: vec4f, b: vec4f) -> vec4f { return a + b; }";
constexpr std::string_view outputs[] = {"y0", "y1", "y2"};
constexpr std::string_view stores[] = {"fn store0(i: u32, v: f32) { y0[i] = y0_store(v); }",
                                       "fn store1(i: u32, v: f32) { y1[i] = y1_store(v); }",
                                       "fn store2(i: u32, v: f32) { y2[i] = y2_store(v); }"};
constexpr std::string_view no_stores[] = {"", "fn store1(i: u32, v: f32) {}", "fn store2(i: u32, v: f32) {}"};
constexpr std::string_view quad_stores[] = {"fn store0(q: u32, v: vec4f) { y0_put(q, v); }",
                                            "fn store1(q: u32, v: vec4f) { y1_put(q, v); }",
                                            "fn store2(q: u32, v: vec4f) { y2_put(q, v); }"};
constexpr std::string_view no_quad_stores[] = {"", "fn store1(q: u32, v: vec4f) {}", "fn store2(q: u32, v: vec4f) {}"};

void bind_weights(Plan& op, const Q4Linear& l, Q4Variant& v) {
  TileParts weights, scales, biases, corrections;
  for (u32 i = 0; i < l.count; ++i) {
    const Q4Part& part = l.parts[i];
    weights.add(part.weight, q4_weight_tiles(part.weight, depth_of(l)));
    scales.add(part.scales, q4_scale_tiles(part.scales, columns_of(part), groups_of(l)));
    if (part.bias) biases.add(*part.bias, q4_bias_tiles(*part.bias, columns_of(part)));
    if (part.correction) corrections.add(*part.correction, q4_correction_tiles(*part.correction));
  }
  v.spec.bind_array("w", "vec4u").bind_array("scales", "vec4f").code(scale4);
  v.bind(op.packed(weights.all()));
  v.bind(op.packed(scales.all()));
  v.spec.code(corrections.count > 0 ? with_correction : no_correction);
  if (corrections.count > 0) {
    v.spec.bind_array("corrections", "vec4f");
    v.bind(op.packed(corrections.all()));
  }
  v.spec.code(biases.count > 0 ? with_bias : no_bias);
  if (biases.count > 0) {
    v.spec.bind_array("bias", "vec4f");
    v.bind(op.packed(biases.all()));
  }
}

void bind_residual(const Q4Linear& l, bool quads, Q4Variant& v) {
  if (!l.residual) {
    v.spec.code(quads ? no_residual_quad : no_residual);
    return;
  }
  if (quads)
    v.spec.bind_input_quads("residual", l.residual->dtype());
  else
    v.spec.bind_input("residual", l.residual->dtype());
  v.bind(*l.residual);
}

void bind_outputs(const Q4Linear& l, bool quads, Q4Variant& v) {
  for (u32 i = 0; i < 3; ++i) {
    const bool made = i < l.outputs();
    if (quads)
      v.spec.code(made ? quad_stores[i] : no_quad_stores[i]);
    else
      v.spec.code(made ? stores[i] : no_stores[i]);
    if (!made) continue;
    if (quads)
      v.spec.bind_output_quads(outputs[i], l.parts[i].y.dtype());
    else
      v.spec.bind_output(outputs[i], l.parts[i].y.dtype());
    v.bind(l.parts[i].y);
  }
}

}  // namespace

u32 blocks_of(const Q4Part& part) { return ceil_div(columns_of(part), columns_per_block); }

Q4Variant q4_variant(Plan& op, const Q4Linear& l, const Q4Rows& x, const Spec& spec, bool quads) {
  const u32 depth = depth_of(l);
  Q4Variant v;
  v.spec = spec;
  v.spec.flag("NORM", x.normalises)
      .flag("CORRECTED", l.parts[0].correction.has_value())
      .flag("PAIRED", l.paired())
      .flag("PLANES", l.planes)
      .code(l.swiglu ? swiglu : planes);
  if (x.uniform)
    v.spec.bind_uniform("x", "vec4f", depth / 4);
  else
    v.spec.bind_array("x", x.dtype == DType::f16 ? "vec4h" : "vec4f");
  v.bind(x.uniform ? Operand(x.data.kind, x.data.index, 0, u64(depth) * 4) : x.data);
  bind_weights(op, l, v);
  v.spec.code(x.normalises ? with_norm : no_norm);
  if (x.normalises) {
    v.spec.bind_uniform("norm", "vec4f", depth / 4);
    v.bind(Operand(Operand::tensor, l.norm->id(), 0, u64(depth) * 4));
  }
  bind_residual(l, quads, v);
  bind_outputs(l, quads, v);
  return v;
}

}  // namespace pteron::ops
