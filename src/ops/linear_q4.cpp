// SPDX-License-Identifier: BSD-3-Clause
#include "ops/linear_q4.h"

#include "ops/attention.h"
#include "ops/linear_nibbles.h"
#include "ops/linear_q4_variant.h"
#include "ops/norm.h"
#include "ops/q4_tiles.h"
#include "ops/routes.h"

#include <algorithm>

namespace pteron::ops {
namespace {

// Of the kernels whose threads have lanes (snippets/q4_linear.wgsl), and of those whose workgroups have strips.
struct LaneParams {
  u32 count = 0, lanes = 0, rows = 0, words = 0, groups = 0, group_words = 0;
  f32 eps = 0;
  u32 second = 0;
  u32 ends[4] = {}, columns[4] = {};
};
struct StripParams {
  u32 rows = 0, strips = 0, second = 0, tiles = 0;
  u32 ends[4] = {}, columns[4] = {};
  f32 eps = 0;
  u32 pad[3] = {};
};
struct ActivationParams {
  u32 count, blocks, quads;
};

// Can the constants be laid out in tiles, and do they fit one binding?
bool can_tile(Plan& op, const Q4Linear& l) {
  if (depth_of(l) % 8 != 0 || l.group % 8 != 0 || depth_of(l) == 0) return false;
  const auto f32_constant = [&](const TensorArg& t) { return op.bytes_are_fixed(t) && t.dtype() == DType::f32; };
  u64 bytes = 0;
  for (u32 i = 0; i < l.count; ++i) {
    const Q4Part& part = l.parts[i];
    if (!op.bytes_are_fixed(part.weight) || !f32_constant(part.scales)) return false;
    if (part.bias && !f32_constant(*part.bias)) return false;
    if (part.minimum && !f32_constant(*part.minimum)) return false;
    bytes += u64(blocks_of(part)) * columns_per_block * depth_of(l) / 2;
  }
  return bytes <= op.device().limits.max_storage_binding_bytes;
}

// A workgroup's columns, four to a thread: a line of 128 bytes, or, where x is dear, two.
constexpr u32 places_of_line = 8, places_of_block = 16;
constexpr u32 most_workgroup_bytes = 16u << 10;  // what every device has
constexpr u32 few_rows = 8;
constexpr u32 block_size = 32;   // elements of x that share a scale where they are in 8 bits
constexpr u32 block_bytes = 48;  // with what quantize_activations adds

// All outputs can be written four columns at a time.
bool in_quads(const Q4Linear& l) {
  for (u32 i = 0; i < l.outputs(); ++i)
    if (columns_of(l.parts[i]) % 4 != 0) return false;
  return true;
}

void note_operations(Plan& op, const Q4Linear& l) {
  u64 columns = 0;
  for (u32 i = 0; i < l.count; ++i) columns += columns_of(l.parts[i]);
  op.note_operations(2 * columns * rows_of(l) * depth_of(l));
}

u32 strips_of(const Q4Part& part, u32 places) { return blocks_of(part) * (columns_per_block / 4 / places); }

Status run_strips(Plan& op, const Q4Linear& l, const Q4Rows& x, const graph::KernelSource& kernel, Spec spec,
                  u32 rows_per_tile, u32 places = places_of_line) {
  const u32 made = l.outputs(), rows = rows_of(l);
  StripParams params{.rows = rows,
                     .second = l.paired() ? blocks_of(l.parts[0]) : 0,
                     .tiles = ceil_div(rows, rows_per_tile),
                     .eps = l.eps};
  for (u32 i = 0; i < made; ++i) {
    params.strips += strips_of(l.parts[i], places);
    params.ends[i] = params.strips;
    params.columns[i] = columns_of(l.parts[i]);
  }
  for (u32 i = made; i < 3; ++i) params.ends[i] = params.strips;
  const bool quads = in_quads(l);
  spec.num("PLACES", places).num("WORDS", depth_of(l) / 8).num("GROUPS", groups_of(l)).num("GROUP_WORDS", l.group / 8);
  const Q4Variant v = q4_variant(op, l, x, spec, quads);
  note_operations(op, l);
  return op.dispatch({kernel, v.spec}, v.bound(), std::as_bytes(std::span(&params, 1)),
                     one_group_per(u64(params.strips) * params.tiles));
}

// A workgroup's threads share out the depth. Where there are many workgroups, small ones do; else large ones, so that a
// small layer keeps more of a GPU busy. Of those, the one that leaves the fewest threads idle.
template <class Fits>
u32 threads_of_strip(u32 depth_units, u32 strips, u32 places, Fits fits) {
  constexpr u32 many_strips = 512;
  u32 size = 64;
  const auto rounds_of = [&](u32 threads) { return ceil_div(depth_units, threads / places); };
  for (u32 threads : {128u, 192u, 256u})
    if (strips < many_strips && fits(threads) && rounds_of(threads) * threads <= rounds_of(size) * size) size = threads;
  return size;
}

// Workgroup memory by the kernels' declarations: where slices of a row are added up, what linear_q4_row has besides
// (for each thread, and for each split of a head), and that of kernels with several rows, of which some are added up at
// once.
u32 sum_bytes(const Q4Linear& l, u32 threads) { return threads * (l.swiglu ? 40 : 20); }
u32 row_bytes(const Q4Linear& l, bool in_splits, u32 threads) {
  const u32 numbers = in_splits ? 3 * ceil_div(l.heads * handed_splits, threads) : 0;
  return sum_bytes(l, threads) + threads * (25 + 4 * numbers) + 64;
}
u32 rows_bytes(const Q4Linear& l, u32 threads, u32 at_once) { return at_once * (sum_bytes(l, threads) + threads); }

struct RowTiling {
  u32 size, at_once;
};
RowTiling tile_rows(const Q4Linear& l, u32 depth_units) {
  const u32 strips = strips_of(l.parts[0], places_of_line), most_at_once = l.swiglu ? 2 : 4;
  const u32 size = threads_of_strip(depth_units, strips, places_of_line,
                                    [&](u32 threads) { return rows_bytes(l, threads, 2) <= most_workgroup_bytes; });
  return {size, rows_bytes(l, size, most_at_once) <= most_workgroup_bytes ? most_at_once : 2};
}

// A GPU: workgroups make strips. One row has a kernel of its own; what is dear to read is read for two lines of
// columns.
Status run_row(Plan& op, const Q4Linear& l, const Q4Rows& x) {
  const u32 words = depth_of(l) / 8, places = x.in_splits ? places_of_block : places_of_line;
  const u32 size = threads_of_strip(words, strips_of(l.parts[0], places), places, [&](u32 threads) {
    return row_bytes(l, x.in_splits, threads) <= most_workgroup_bytes;
  });
  const u32 rounds = ceil_div(words, size / places);
  u32 unroll = 1;
  for (u32 by : {2u, 3u, 4u, 5u, 6u})
    if (2 * by <= places && ceil_div(rounds, by) * by <= ceil_div(rounds, unroll) * unroll) unroll = by;
  Spec spec =
      Spec().num("SIZE", size).num("UNROLL", unroll).num("AT_ONCE", 1).use(x.in_splits ? "q4_x_splits" : "q4_x_plain");
  if (x.in_splits)
    spec.num("SPLITS", handed_splits).num("HEADS", l.heads).num("HEAD_CHUNKS", depth_of(l) / l.heads / 4);
  return run_strips(op, l, x, kernels::linear_q4_row, spec, 1, places);
}

Status run_lines(Plan& op, const Q4Linear& l, const Q4Rows& x) {
  if (x.in_splits || op.branch(rows_of(l) == 1)) return run_row(op, l, x);
  const u32 rows = op.branch(rows_of(l) <= 4) ? 4 : 8;
  const auto [size, at_once] = tile_rows(l, depth_of(l) / 8);
  const Spec spec = Spec().num("SIZE", size).num("UNROLL", 1).num("ROWS", rows).num("AT_ONCE", at_once);
  return run_strips(op, l, x, kernels::linear_q4_lines, spec, rows);
}

// Each workgroup reads all splits again. That is sooner done than another dispatch while it is a few megabytes, which
// come from a cache.
bool joins_splits(const Q4Linear& l) {
  constexpr u64 most = 2u << 20;
  const u64 strips = strips_of(l.parts[0], places_of_block);
  return !l.norm && strips * handed_splits * depth_of(l) * sizeof(f32) <= most &&
         row_bytes(l, true, 64) <= most_workgroup_bytes;
}

// x in 8 bits: less exact, so only where the user allows it, and where there is much to multiply.
bool takes_int8(Plan& op, const Q4Linear& l) {
  return op.fast_math() && l.group % block_size == 0 && op.branch(rows_of(l) > few_rows);
}

Status run_int8(Plan& op, const Q4Linear& l, const Q4Rows& x) {
  const u32 depth = depth_of(l), blocks = ceil_div(depth, block_size), count = rows_of(l) * blocks;
  const u32 most_rows = u32(l.x.max().numel() / depth);
  const Operand bytes = op.scratch(u64(most_rows) * blocks * block_bytes);
  const Spec spec = Spec().bind_array("x", x_words(x.dtype)).bind_array("y", "vec4u", gpu::BindingKind::read_write);
  TRY_DO(op.dispatch({kernels::quantize_activations, spec}, {x.data, bytes}, ActivationParams{count, blocks, depth / 4},
                     one_thread_per(count, 64)));
  const auto [size, at_once] = tile_rows(l, blocks);
  return run_strips(op, l, {bytes, DType::i8}, kernels::linear_q4_int8,
                    Spec().num("SIZE", size).num("UNROLL", 1).num("ROWS", 8).num("AT_ONCE", at_once), 8);
}

// As few passes over the weights as rows need. Where their number is not known before, threads that share what they
// load have more of them.
u32 rows_per_lane(Plan& op, const Q4Linear& l, bool share) {
  const u32 rows = rows_of(l);
  if (!share && op.branch(rows == 1)) return 1;
  if (op.shape_is_fixed(l.x)) return rows <= 2 ? 2 : rows <= 4 ? 4 : 8;
  return share && !op.branch(rows <= 4) ? 8 : 4;
}

bool fits_uniform(const Plan& op, const Q4Linear& l, u32 rows) {
  return u64(rows) * depth_of(l) * sizeof(f32) <= op.device().limits.max_uniform_binding_bytes;
}

// How many rows are read as constant memory, which costs a processor less than storage; none if their number is not
// known before. Whole tiles, so that one kernel serves all numbers of rows of a tile.
u32 uniform_rows(const Plan& op, const Q4Linear& l, u32 rows_per_thread) {
  const u32 tiles = rows_per_thread == 1 ? 1 : op.shape_is_fixed(l.x) ? ceil_div(rows_of(l), rows_per_thread) : 0;
  return fits_uniform(op, l, tiles * rows_per_thread) ? tiles * rows_per_thread : 0;
}

// A processor: threads that have lanes of their own, and may hand each other what they load of x.
Status run_lanes(Plan& op, const Q4Linear& l, const Q4Rows& x, u32 rows_per_thread, bool share) {
  const u32 rows = rows_of(l), words = depth_of(l) / 8;
  const u32 lanes_per_block = l.paired() ? 16 : 8, made = l.outputs();
  LaneParams params{.rows = rows,
                    .words = words,
                    .groups = groups_of(l),
                    .group_words = l.group / 8,
                    .eps = l.eps,
                    .second = l.paired() ? blocks_of(l.parts[0]) : 0};
  for (u32 i = 0; i < made; ++i) {
    params.lanes += blocks_of(l.parts[i]) * lanes_per_block;
    params.ends[i] = params.lanes;
    params.columns[i] = columns_of(l.parts[i]);
  }
  for (u32 i = made; i < 3; ++i) params.ends[i] = params.lanes;
  params.count = params.lanes * ceil_div(rows, rows_per_thread);
  const Q4Variant v = q4_variant(op, l, x, Spec().num("TM", rows_per_thread), false);
  note_operations(op, l);
  return op.dispatch({share ? kernels::linear_q4_subgroups : kernels::linear_q4_registers, v.spec}, v.bound(),
                     std::as_bytes(std::span(&params, 1)), one_thread_per(params.count, share ? 8 : 64));
}

// Of x in float32, with rows that are read as constant memory.
u64 bytes_of_rows(const Q4Linear& l, u32 uniform) {
  return std::max<u64>(l.x.max().numel(), u64(uniform) * depth_of(l)) * sizeof(f32);
}

// x after its norm: every thread of a linear would normalise all rows again, so they are normalised once.
Result<Q4Rows> normalised(Plan& op, const Q4Linear& l, u32 uniform) {
  const Operand y = op.scratch(bytes_of_rows(l, uniform));
  TRY_DO(rms_norm(op, l.x, *l.norm, y, l.eps));
  return Q4Rows{y, DType::f32, uniform};
}

Status check_part(Plan& op, const Q4Linear& l, const Q4Part& part) {
  TRY_DO(check_depth(op, l.x));
  TRY_DO(check_weight(op, {part.weight, part.scales, l.group}, depth_of(l)));
  REQUIRE(op, !part.bias || part.bias->numel() >= columns_of(part), "the bias has ", part.bias ? part.bias->numel() : 0,
          " elements for ", columns_of(part), " columns");
  REQUIRE(op, !part.bias || is_float(part.bias->dtype()), "the bias must be floating-point, not ",
          part.bias ? part.bias->dtype() : DType::f32);
  REQUIRE(op, !l.norm || l.norm->numel() == depth_of(l), "the weight of the norm has ", l.norm ? l.norm->numel() : 0,
          " elements, but rows of ", l.x.shape(), " have ", depth_of(l));
  REQUIRE(op, is_float(part.y.dtype()), "the result must be floating-point, not ", part.y.dtype());
  return {};
}

// et_vk.linear_q4gsw(x[.., K], weight u8[N, Kp/2], scales [G, padN], group, bias?, out[.., N])
Status linear_q4gsw(Plan& op) {
  Q4Linear l;
  l.x = op.tensor(0);
  l.parts[0] = {.weight = op.tensor(1), .scales = op.tensor(2), .y = op.output(5), .bias = op.maybe_tensor(4)};
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

// pteron.linear_q4(x, norm?, eps, [weights], [scales], group, shift, [biases]?, [minima]?, residual?, kind, splits?,
// heads, [outputs]), made by passes/q4_node.h. Planes have one scale, bias and minimum for both.
Status fused_linear_q4(Plan& op) {
  Q4Linear l;
  l.x = op.tensor(0);
  l.norm = op.maybe_tensor(1);
  l.eps = f32(op.number(2));
  l.group = u32(op.integer(5));
  l.shift = u32(op.integer(6));
  l.residual = op.maybe_tensor(9);
  const std::string_view kind = op.text(10);
  l.splits = op.maybe_tensor(11);
  l.heads = u32(op.integer(12));
  l.swiglu = kind == "swiglu";
  l.planes = kind == "planes";
  l.count = op.list_size(3);
  REQUIRE(op, l.count >= 1 && l.count <= l.parts.size() && l.group > 0, "the fused linear has ", l.count, " weights");
  const u32 made = l.outputs();
  Shape shape = l.x.shape();
  for (u32 i = 0; i < l.count; ++i) {
    Q4Part& part = l.parts[i];
    part = {.weight = op.list_tensor(3, i),
            .scales = op.list_tensor(4, l.planes ? 0 : i),
            .y = op.list_output(13, std::min(i, made - 1))};
    const bool has_own = i == 0 || !l.planes;
    if (has_own && !op.is_null(7)) part.bias = op.list_tensor(7, i);
    if (has_own && !op.is_null(8)) part.minimum = op.list_tensor(8, i);
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
  if (rows_of(l) == 0) return {};
  if (!can_tile(op, l)) {
    const Q4Part& part = l.parts[0];
    if (l.count > 1 || l.norm || l.residual || part.minimum || l.shift > 0)
      return internal_error("a fused 4-bit linear does not fit its kernel");
    return linear_grouped(op, l.x, {part.weight, part.scales, l.group}, part.bias, part.y);
  }
  REQUIRE(op, columns_of(l.parts[0]) > 0, "the weight ", l.parts[0].weight.shape(), " has no columns");
  if (takes_int8(op, l)) {
    TRY(const Q4Rows x, l.norm ? normalised(op, l, 0) : Q4Rows{l.x, l.x.dtype()});
    return run_int8(op, l, x);
  }
  const Work work{rows_of(l), depth_of(l), columns_of(l.parts[0]), 1, true};
  TRY(const std::string_view route, choose_route(op, "linear_q4", work));
  const bool share = route == "subgroups", in_lanes = share || route == "registers";
  const u32 rows_per_thread = in_lanes ? rows_per_lane(op, l, share) : 0;
  const u32 uniform = in_lanes ? uniform_rows(op, l, rows_per_thread) : 0;
  const auto run = [&](const Q4Rows& x) {
    return in_lanes ? run_lanes(op, l, x, rows_per_thread, share) : run_lines(op, l, x);
  };
  if (l.splits && op.branch(l.splits->dim(-1) > split_row(l.heads, depth_of(l) / l.heads))) {
    if (!in_lanes && joins_splits(l)) return run({*l.splits, DType::f32, 0, false, true});
    const Operand joined = op.scratch(bytes_of_rows(l, uniform));
    TRY_DO(merge_handed(op, *l.splits, l.heads, depth_of(l) / l.heads, joined));
    return run({joined, DType::f32, uniform});
  }
  const bool is_f32 = l.x.dtype() == DType::f32;
  const bool normalises =
      l.norm && is_f32 && (in_lanes ? uniform == 1 : fits_uniform(op, l, 1) && op.branch(rows_of(l) <= few_rows));
  const bool is_whole = rows_per_thread == 1 || uniform == rows_of(l);
  if (!l.norm || normalises) return run({l.x, l.x.dtype(), is_f32 && is_whole ? uniform : 0, normalises});
  TRY(const Q4Rows x, normalised(op, l, uniform));
  return run(x);
}

static constexpr OpEntry entries[] = {
    {"et_vk.linear_q4gsw.default", linear_q4gsw, "x, weight, scales, group: int, bias? -> out"_sig, lanewise},
    {"pteron.linear_q4", fused_linear_q4,
     "x, norm?, eps: number, weights: tensors, scales: tensors, group: int, shift: int, biases: tensors?, minima: "
     "tensors?, residual?, kind: text, splits?, heads: int = 0 -> [...]"_sig,
     internal | lanewise},
};
extern const OpList linear_q4_ops = entries;

}  // namespace pteron::ops
