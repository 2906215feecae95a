// SPDX-License-Identifier: BSD-3-Clause
#include "ops/linear_q4.h"

#include "ops/linear_nibbles.h"
#include "ops/norm.h"
#include "ops/q4_tiles.h"
#include "ops/routes.h"

#include <algorithm>

namespace pteron::ops {
namespace {

struct Params {
  u32 count, lanes, rows, words, groups, group_words;
  f32 eps;
  u32 second;
  u32 ends[4], columns[4];
};

struct TileParts {
  std::array<graph::PackedPart, 3> items;
  u32 count = 0;
  void add(const TensorArg& constant, const Packing& packing) { items[count++] = {constant.id(), packing}; }
  std::span<const graph::PackedPart> all() const { return std::span(items).first(count); }
};

constexpr std::string_view no_norm = "fn norm_at(i: u32) -> vec4f { return vec4f(1.0); }";
constexpr std::string_view with_norm = "fn norm_at(i: u32) -> vec4f { return norm[i]; }";
constexpr std::string_view no_correction = "fn correction_at(i: u32) -> vec4f { return vec4f(0.0); }";
constexpr std::string_view with_correction = "fn correction_at(i: u32) -> vec4f { return corrections[i]; }";
constexpr std::string_view no_bias = "fn bias_at(i: u32) -> vec4f { return vec4f(0.0); }";
constexpr std::string_view with_bias = "fn bias_at(i: u32) -> vec4f { return bias[i]; }";
constexpr std::string_view no_residual = "fn residual_at(i: u32) -> f32 { return 0.0; }";
constexpr std::string_view with_residual = "fn residual_at(i: u32) -> f32 { return residual_get(i); }";
constexpr std::string_view swiglu = "fn pair(a: vec4f, b: vec4f) -> vec4f { return a / (1.0 + exp(-a)) * b; }";
constexpr std::string_view planes = "fn pair(a: vec4f, b: vec4f) -> vec4f { return a + b; }";
constexpr std::string_view singles = "alias T4 = vec4f;", halves = "alias T4 = vec4h;";
constexpr std::string_view outputs[] = {"y0", "y1", "y2"};
constexpr std::string_view stores[] = {"fn store0(i: u32, v: f32) { y0[i] = y0_store(v); }",
                                       "fn store1(i: u32, v: f32) { y1[i] = y1_store(v); }",
                                       "fn store2(i: u32, v: f32) { y2[i] = y2_store(v); }"};
constexpr std::string_view no_stores[] = {"", "fn store1(i: u32, v: f32) {}", "fn store2(i: u32, v: f32) {}"};

u32 depth_of(const Q4Linear& l) { return l.x.dim(-1); }
u32 rows_of(const Q4Linear& l) { return u32(l.x.numel() / std::max(depth_of(l), 1u)); }
u32 columns_of(const Q4Part& part) { return part.weight.dim(0); }
u32 blocks_of(const Q4Part& part) { return ceil_div(columns_of(part), columns_per_block); }
u32 groups_of(const Q4Linear& l) { return ceil_div(depth_of(l), l.group); }

// Can the constants be laid out in tiles, and do they fit one binding?
bool can_tile(Plan& op, const Q4Linear& l) {
  if (depth_of(l) % 8 != 0 || l.group % 8 != 0 || depth_of(l) == 0) return false;
  const auto f32_constant = [&](const TensorArg& t) { return op.bytes_are_fixed(t) && t.dtype() == DType::f32; };
  u64 bytes = 0;
  for (u32 i = 0; i < l.count; ++i) {
    const Q4Part& part = l.parts[i];
    if (!op.bytes_are_fixed(part.weight) || !f32_constant(part.scales)) return false;
    if (part.bias && !f32_constant(*part.bias)) return false;
    if (part.correction && !f32_constant(*part.correction)) return false;
    bytes += u64(blocks_of(part)) * columns_per_block * depth_of(l) / 2;
  }
  return bytes <= op.device().limits.max_storage_binding_bytes;
}

// Which kernel computes how much.
struct Tiling {
  const graph::KernelSource& kernel;
  u32 rows, lanes;  // per workgroup if `grouped`, else per thread
  u32 workgroup;    // threads, where that is up to the specialisation
  bool grouped;     // a workgroup makes its results together
  bool normalises;  // can apply a norm to x
};
// x as its kernel sees it.
struct Rows {
  Operand data;
  DType dtype;
  bool uniform = false;     // one row, bound as constant memory
  bool normalises = false;  // by the kernel
};

// A kernel's specialisation and operands.
struct Variant {
  Spec spec;
  std::array<Operand, 12> operands;
  u32 used = 0;
  void bind(const Operand& operand) { operands[used++] = operand; }
};

Variant variant_for(Plan& op, const Q4Linear& l, const Tiling& tiling, const Rows& x) {
  const u32 depth = depth_of(l), groups = groups_of(l);
  Variant v;
  if (!tiling.grouped) v.spec.num("TM", tiling.rows);
  if (tiling.workgroup > 0) v.spec.num("LANES", tiling.lanes).num("SIZE", tiling.workgroup);
  if (&tiling.kernel == &kernels::linear_q4_shared) v.spec.code(x.dtype == DType::f16 ? halves : singles);
  v.spec.flag("NORM", x.normalises)
      .flag("CORRECTED", l.parts[0].correction.has_value())
      .flag("PAIRED", l.paired())
      .flag("PLANES", l.planes);
  v.spec.code(l.swiglu ? swiglu : planes);
  if (x.uniform)
    v.spec.bind_uniform("x", "vec4f", depth / 4);
  else
    v.spec.bind_array("x", x.dtype == DType::f16 ? "vec4h" : "vec4f");
  v.bind(x.uniform ? Operand(x.data.kind, x.data.index, 0, u64(depth) * 4) : x.data);

  TileParts weights, scales, biases, corrections;
  for (u32 i = 0; i < l.count; ++i) {
    const Q4Part& part = l.parts[i];
    weights.add(part.weight, q4_weight_tiles(part.weight, depth));
    scales.add(part.scales, q4_scale_tiles(part.scales, columns_of(part), groups));
    if (part.bias) biases.add(*part.bias, q4_bias_tiles(*part.bias, columns_of(part)));
    if (part.correction) corrections.add(*part.correction, q4_correction_tiles(*part.correction));
  }
  v.spec.bind_array("w", "vec4u").bind_array("scales", "vec4f");
  v.bind(op.packed(weights.all()));
  v.bind(op.packed(scales.all()));
  v.spec.code(x.normalises ? with_norm : no_norm);
  if (x.normalises) {
    v.spec.bind_uniform("norm", "vec4f", depth / 4);
    v.bind(Operand(Operand::tensor, l.norm->id(), 0, u64(depth) * 4));
  }
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
  v.spec.code(l.residual ? with_residual : no_residual);
  if (l.residual) {
    v.spec.bind_input("residual", l.residual->dtype());
    v.bind(*l.residual);
  }
  const u32 made = l.outputs();
  for (u32 i = 0; i < 3; ++i) {
    v.spec.code(i < made ? stores[i] : no_stores[i]);
    if (i >= made) continue;
    v.spec.bind_output(outputs[i], l.parts[i].y.dtype());
    v.bind(l.parts[i].y);
  }
  return v;
}

Status run(Plan& op, const Q4Linear& l, const Tiling& tiling, const Rows& x) {
  const u32 rows = rows_of(l), words = depth_of(l) / 8;
  const u32 lanes_per_block = l.paired() ? 16 : 8, made = l.outputs();
  Params params{0, 0, rows, words, groups_of(l), l.group / 8, l.eps, l.paired() ? blocks_of(l.parts[0]) : 0, {}, {}};
  for (u32 i = 0; i < made; ++i) {
    params.lanes += blocks_of(l.parts[i]) * lanes_per_block;
    params.ends[i] = params.lanes;
    params.columns[i] = columns_of(l.parts[i]);
  }
  for (u32 i = made; i < 3; ++i) params.ends[i] = params.lanes;
  params.count = ceil_div(params.lanes, tiling.lanes) * ceil_div(rows, tiling.rows);
  const Variant v = variant_for(op, l, tiling, x);
  return op.dispatch({tiling.kernel, v.spec}, std::span(v.operands).first(v.used), std::as_bytes(std::span(&params, 1)),
                     tiling.grouped ? one_group_per(params.count) : one_thread_per(params.count, 64));
}

// A row's words are shared out among the threads of a workgroup, so it should not have many more than those.
u32 threads_for(u32 words) { return words > 128 ? 64 : 32; }

Tiling tiling_of(std::string_view route, u32 depth, bool one_row) {
  if (route == "subgroups") return {kernels::linear_q4_subgroups, 1, 1, threads_for(depth / 8), true, true};
  if (route == "cooperative") return {kernels::linear_q4_cooperative, 1, 4, 128, true, true};
  if (route == "shared") return {kernels::linear_q4_shared, 32, 8, 0, true, false};
  if (one_row) return {kernels::linear_q4_registers, 1, 1, 0, false, true};
  return {kernels::linear_q4_registers, 4, 1, 0, false, false};
}

Status check_part(Plan& op, const Q4Linear& l, const Q4Part& part) {
  TRY_DO(check_weight(op, {part.weight, part.scales, l.group}, depth_of(l)));
  REQUIRE(op, !part.bias || part.bias->numel() >= columns_of(part), "the bias has ", part.bias ? part.bias->numel() : 0,
          " elements for ", columns_of(part), " columns");
  REQUIRE(op, is_float(part.y.dtype()), "the result must be floating-point, not ", part.y.dtype());
  return {};
}

// et_vk.linear_q4gsw(x[.., K], weight u8[N, Kp/2], scales [G, padN], group, bias?, out[.., N])
Status linear_q4gsw(Plan& op) {
  Q4Linear l;
  l.x = op.tensor(0);
  l.parts[0] = {op.tensor(1), op.tensor(2), op.output(5), op.maybe_tensor(4), {}};
  const i64 group = op.integer(3);
  REQUIRE(op, group > 0 && group <= i64(UINT32_MAX), "the group size is ", group);
  l.group = u32(group);
  REQUIRE(op, l.x.rank() >= 1 && is_float(l.x.dtype()), "x must be floating-point with at least one axis, not ",
          l.x.dtype(), " ", l.x.shape());
  TRY_DO(check_part(op, l, l.parts[0]));
  Shape shape = l.x.shape();
  shape[shape.rank() - 1] = columns_of(l.parts[0]);
  TRY_DO(op.resize(l.parts[0].y, shape));
  if (l.parts[0].y.numel() == 0) return {};
  return linear_q4(op, l);
}

// pteron.linear_q4(x, norm?, eps, [weights], [scales], group, [biases]?, [corrections]?, residual?, kind, [outputs]),
// made by passes/q4_node.h.
Status fused_linear_q4(Plan& op) {
  Q4Linear l;
  l.x = op.tensor(0);
  l.norm = op.maybe_tensor(1);
  l.eps = f32(op.number(2));
  l.group = u32(op.integer(5));
  l.residual = op.maybe_tensor(8);
  const std::string_view kind = op.text(9);
  l.swiglu = kind == "swiglu";
  l.planes = kind == "planes";
  l.count = op.list_size(3);
  REQUIRE(op, l.count >= 1 && l.count <= l.parts.size() && l.group > 0, "the fused linear has ", l.count, " weights");
  const u32 made = l.outputs();
  Shape shape = l.x.shape();
  for (u32 i = 0; i < l.count; ++i) {
    Q4Part& part = l.parts[i];
    part = {op.list_tensor(3, i), op.list_tensor(4, i), op.list_output(10, std::min(i, made - 1)), {}, {}};
    const bool has_own = i == 0 || !l.planes;
    if (has_own && !op.is_null(6)) part.bias = op.list_tensor(6, i);
    if (has_own && !op.is_null(7)) part.correction = op.list_tensor(7, i);
    TRY_DO(check_part(op, l, part));
    if (i >= made) continue;
    shape[shape.rank() - 1] = columns_of(part);
    if (l.residual)
      REQUIRE_LIVE(op, l.residual->numel() == shape.numel(), "the residual ", l.residual->shape(), " does not fit ",
                   shape);
    TRY_DO(op.resize(part.y, l.residual ? l.residual->shape() : shape));
  }
  if (l.parts[0].y.numel() == 0) return {};
  return linear_q4(op, l);
}

}  // namespace

Status linear_q4(Plan& op, const Q4Linear& l) {
  if (!can_tile(op, l)) {
    const Q4Part& part = l.parts[0];
    if (l.count > 1 || l.norm || l.residual || part.correction)
      return internal_error("a fused 4-bit linear does not fit its kernel");
    return linear_grouped(op, l.x, {part.weight, part.scales, l.group}, part.bias, part.y);
  }
  const Work work{rows_of(l), depth_of(l), columns_of(l.parts[0]), 1, true};
  TRY(const std::string_view route, choose_route(op, "linear_q4", work));
  const bool fits_uniform =
      l.x.dtype() == DType::f32 && u64(depth_of(l)) * 4 <= op.device().limits.max_uniform_binding_bytes;
  const bool one_row = route == "registers" && op.branch(rows_of(l) == 1);
  const Tiling tiling = tiling_of(route, depth_of(l), one_row);
  if (!l.norm || (tiling.normalises && fits_uniform))
    return run(op, l, tiling, {l.x, l.x.dtype(), one_row && fits_uniform, l.norm.has_value()});
  // Every thread would normalise all rows again, so they are normalised once.
  const Operand normalised = op.scratch(l.x.max().numel() * sizeof(f32));
  TRY_DO(rms_norm(op, l.x, *l.norm, normalised, l.eps));
  return run(op, l, tiling, {normalised, DType::f32});
}

static constexpr OpEntry entries[] = {
    {"et_vk.linear_q4gsw.default", linear_q4gsw, "x, weight, scales, group: int, bias? -> out"_sig, lanewise},
    {"pteron.linear_q4", fused_linear_q4,
     "x, norm?, eps: number, weights: tensors, scales: tensors, group: int, biases: tensors?, corrections: tensors?, "
     "residual?, kind: text -> [...]"_sig,
     internal | lanewise},
};
extern const OpList linear_q4_ops = entries;

}  // namespace pteron::ops
