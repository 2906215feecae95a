// SPDX-License-Identifier: BSD-3-Clause
#include "ops/attention_kernels.h"

#include "ops/routes.h"

#include <limits>

namespace pteron::ops {
namespace {

struct AttentionParams {
  u32 count = 0, heads = 0, queries = 0, splits = 0, keys = 0, split_keys = 0, heads_per_kv = 0, offset = 0;
  f32 scale = 0;
  u32 batches = 0;
  u32 tiles = 0, quiet = 0;
  Strides q, k, v, y, mask;
  u32 turn[4] = {};
};

struct MergeParams {
  u32 rows = 0, chunks = 0, splits = 0, heads = 0, queries = 0, batch_stride = 0, head_stride = 0, query_stride = 0,
      dim = 0, rounds = 0, quiet = 0;
};

struct MaskParams {
  u32 count;
  f32 hidden;
};

constexpr u32 max_dim = 512;  // of a head: a thread keeps one in registers
constexpr u32 few_queries = 4;
constexpr u32 max_shared_heads = 8;
constexpr u32 max_shared_elements = 1024;  // of queries, which a thread keeps in memory of its own
constexpr u32 max_tile_chunks = 768;       // of keys and values in workgroup memory, 16 bytes each
constexpr u32 unsplit_keys = 128;          // except by attention_threads
constexpr u32 split_keys = 64;             // at least
constexpr u32 max_splits = 64;             // that attention_merge puts together in one round
constexpr u32 chunks_per_group = 16;
constexpr u32 max_group_heads = 4;
constexpr u32 merge_threads = 128;
constexpr u32 team = 4;           // lanes of attention_lanes
constexpr u32 enough_teams = 24;  // for a processor's cores
constexpr u32 line_bytes = 64;    // of a processor's memory

// How a kernel divides the work.
struct Tiling {
  const graph::KernelSource& kernel;
  u32 heads = 1;       // per thread, with the same keys
  u32 workgroup = 64;  // threads
  u32 queries = 0;     // per workgroup; 0: a thread has one, with one split
  u32 tile = 0;        // keys in workgroup memory
  u32 team = 1;        // threads that have a query and a split together

  // Heads lie side by side in chunks that threads have, so the kernel can rotate.
  bool in_chunks() const { return queries == 1 || team > 1; }
};

// How many heads use a key at once: at most that many, in equal parts.
u32 shared_heads(u32 heads_per_kv, u32 most) {
  u32 heads = std::min(heads_per_kv, most);
  while (heads_per_kv % heads != 0) --heads;
  return heads;
}

Tiling threads_tiling(const gpu::DeviceInfo& device, u32 heads_per_kv, u32 dim) {
  if (device.adapter.type != gpu::AdapterType::cpu) return {kernels::attention_threads};
  // A processor saves loads by using a key for several heads, and has registers in memory anyway; small workgroups keep
  // its cores busy.
  const u32 most = std::min(max_shared_heads, std::max(max_shared_elements / dim, 1u));
  return {kernels::attention_threads, shared_heads(heads_per_kv, most), 16};
}

// As many as fit: a thread has 20.5 bytes of workgroup memory for each head, and WebGPU promises 16 KiB.
u32 group_threads(u32 heads) { return heads <= 3 ? 256 : 128; }

Result<Tiling> tiling_of(Plan& op, const Attention& a) {
  const u32 dim = a.q.tensor.dim(-1), value_dim = a.v.dim(-1);
  TRY(const std::string_view route, choose_route(op, "attention", {a.queries, dim, a.keys, a.batch * a.heads}));
  if (route == "group") {
    const u32 heads = shared_heads(a.heads / a.kv_heads, max_group_heads);
    return Tiling{kernels::attention_group, heads, group_threads(heads), 1};
  }
  if (route == "lanes") {
    const u32 most = std::min(max_shared_heads, std::max(team * max_shared_elements / std::max(dim, value_dim), 1u));
    return Tiling{.kernel = kernels::attention_lanes,
                  .heads = shared_heads(a.heads / a.kv_heads, most),
                  .workgroup = 8,
                  .team = team};
  }
  if (route == "threads") return threads_tiling(op.device(), a.heads / a.kv_heads, dim);
  const u32 chunks = ceil_div(dim, 4) + ceil_div(value_dim, 4);
  return Tiling{kernels::attention_tiled, 1, 64, 64, std::max(max_tile_chunks / chunks / 4 * 4, 4u)};
}

// In how many parts the keys are walked. Few queries would leave most of a GPU idle, and a thread must not loop for
// too long.
u32 splits_of(Plan& op, const Attention& a, const Tiling& tiling, u32 keys, u32 queries) {
  const gpu::DeviceInfo& device = op.device();
  const u32 chunks = ceil_div(a.q.tensor.dim(-1), 4) + ceil_div(a.v.dim(-1), 4);
  const u64 rounds = u64(chunks) * (1 + tiling.heads) + tiling.heads + 1;  // for four keys
  const u64 longest = std::min<u64>(max_rounds(device) / rounds * 4, UINT32_MAX);
  const u32 least = std::max(ceil_div(keys, u32(longest)), 1u);
  if (queries > few_queries) return least;
  // Few keys are walked sooner than splits are put together.
  if (tiling.team > 1)
    return keys <= unsplit_keys ? least
                                : std::max(least, std::min(ceil_div(enough_teams, a.batch * (a.heads / tiling.heads)),
                                                           ceil_div(keys, split_keys)));
  // A processor has few cores; on a GPU few splits are put together sooner than many.
  if (device.adapter.type == gpu::AdapterType::cpu) return std::max(least, std::min(32u, ceil_div(keys, 64)));
  if (keys <= unsplit_keys) return least;
  const u32 few = std::min(handed_splits, ceil_div(keys, split_keys));
  return std::max({least, few, std::min(max_splits, ceil_div(keys, 4 * split_keys))});
}

// Can the kernel rotate, and fill the caches? It does for one query, which is then the last position.
bool turns_itself(Plan& op, const Attention& a, const Tiling& tiling) {
  if (!a.turn || !tiling.in_chunks() || a.mask) return false;
  const u32 dim = a.q.tensor.dim(-1), half = a.turn->half();
  if (dim % 4 != 0 || a.v.dim(-1) != dim || half % (a.turn->interleaved ? 2 : 4) != 0) return false;
  return op.branch(a.queries == 1);
}

// A kernel's specialisation and operands.
struct Bound {
  Spec spec;
  std::array<Operand, 8> operands;
  u32 used = 0;
};

// What a kernel leaves: the result, records for attention_merge, or splits for an op that puts them together.
enum class Form { whole, records, splits };

Spec spec_of(const Attention& a, const Tiling& tiling, Form form) {
  return Spec()
      .num("HEADS", tiling.heads)
      .num("D", a.q.tensor.dim(-1))
      .num("VALUE_D", a.v.dim(-1))
      .flag("CAUSAL", a.causal)
      .flag("HAS_MASK", a.mask.has_value())
      .flag("PARTIAL", form != Form::whole);
}

// What is added to the scores; without a mask the kernels bind something that they don't read.
struct Mask {
  Operand data;
  DType dtype;
};

Result<Mask> mask_of(Plan& op, const Attention& a) {
  if (!a.mask) return Mask{a.q.data, a.q.dtype};
  const TensorArg& mask = *a.mask;
  if (mask.dtype() != DType::boolean) return Mask{mask, mask.dtype()};
  const Operand scores = op.scratch(mask.max().numel() * sizeof(f32));
  const u32 count = u32(mask.numel());
  if (count > 0)
    TRY_DO(op.dispatch({kernels::mask_scores, Spec().input_quads("mask", mask.dtype()).output_quads("y", DType::f32)},
                       {mask, scores}, MaskParams{count, -std::numeric_limits<f32>::infinity()},
                       one_thread_per(ceil_div(count, 4), 64)));
  return Mask{scores, DType::f32};
}

Bound bind(const Attention& a, const Tiling& tiling, const Mask& mask, const Operand& y, Form form) {
  Spec spec = spec_of(a, tiling, form).num("WORKGROUP", tiling.workgroup).use("attention_put");
  if (tiling.tile > 0) spec.num("TILE", tiling.tile);
  spec.input_quads("q", a.q.dtype)
      .input_quads("k", a.k.dtype())
      .input_quads("v", a.v.dtype())
      .input("mask", mask.dtype)
      .output("y", form == Form::whole ? a.y.dtype() : DType::f32);
  return {spec, {a.q.data, a.k, a.v, mask.data, y}, 5};
}

Bound bind_chunks(const Attention& a, const Tiling& tiling, const Mask& mask, bool turns, const Operand& y, Form form) {
  Bound out{spec_of(a, tiling, form), {}, 0};
  if (tiling.queries == 1) out.spec.num("SIZE", tiling.workgroup);
  if (tiling.team > 1) out.spec.num("LINE", u32(line_bytes / (4 * size_of(a.k.dtype()))));
  const auto add = [&](const Operand& operand) { out.operands[out.used++] = operand; };
  if (turns) {
    const Turn& t = *a.turn;
    out.spec.flag("INTERLEAVED", t.interleaved)
        .use("attention_turned")
        .bind_input_quads("q", t.q.dtype())
        .bind_updated_quads("k", a.k.dtype())
        .bind_updated_quads("v", a.v.dtype())
        .bind_input_quads("new_k", t.k.dtype())
        .bind_input_quads("new_v", t.v.dtype())
        .bind_input_quads("cosines", t.cosines.dtype())
        .bind_input_quads("sines", t.sines.dtype());
    for (const TensorArg& operand : {t.q, a.k, a.v, t.k, t.v, t.cosines, t.sines}) add(operand);
  } else {
    out.spec.use("attention_plain")
        .bind_input_quads("q", a.q.dtype)
        .bind_input_quads("k", a.k.dtype())
        .bind_input_quads("v", a.v.dtype())
        .bind_input("mask", mask.dtype);
    for (const Operand& operand : {a.q.data, Operand(a.k), Operand(a.v), mask.data}) add(operand);
  }
  const DType stored = form == Form::whole ? a.y.dtype() : DType::f32;
  if (form == Form::splits)
    out.spec.num("SPLITS", handed_splits).use("attention_put_splits").bind_output_quads("y", stored);
  else if (a.v.dim(-1) % 4 == 0)
    out.spec.use("attention_put_quads").bind_output_quads("y", stored);
  else
    out.spec.use("attention_put").bind_output("y", stored);
  add(y);
  return out;
}

AttentionParams params_of(const Attention& a, const Tiling& tiling, u32 splits) {
  const u32 rows = a.batch * a.heads * a.queries, split = std::max(ceil_div(a.keys, splits), 1u);
  return {.count = rows / tiling.heads * splits,
          .heads = a.heads,
          .queries = a.queries,
          .splits = splits,
          .keys = a.keys,
          .split_keys = split,
          .heads_per_kv = a.heads / a.kv_heads,
          .offset = a.offset,
          .scale = a.scale,
          .batches = a.batch,
          .tiles = ceil_div(split, tiling.workgroup / 4),
          .quiet = a.quiet,
          .q = a.q_at,
          .k = a.k_at,
          .v = a.v_at,
          .y = a.y_at,
          .mask = a.mask_at};
}

// Can a kernel of its own hand splits on? Those of one query, which have room: a batch leaves none.
bool hands_on(const Attention& a, const Tiling& tiling) {
  const u32 value_dim = a.v.dim(-1);
  if (!a.splits || tiling.queries != 1 || a.batch != 1 || value_dim % 4 != 0) return false;
  return a.splits->max().dim(-1) == handed_splits * split_row(a.heads, value_dim);
}

Status resize_splits(Plan& op, const Attention& a, u32 splits) {
  if (!a.splits) return {};
  Shape shape = a.splits->max();
  shape[shape.rank() - 1] = splits * split_row(a.heads, a.v.dim(-1));
  return op.resize(*a.splits, shape);
}

Status merge(Plan& op, const Operand& from, const Operand& y, DType dtype, Form form, MergeParams params,
             bool by_threads = false) {
  // Results are written in quads where that can be; a merge always reads quads.
  const bool quads = params.dim % 4 == 0;
  Spec spec = Spec()
                  .use(form == Form::splits ? "merge_get_splits" : "merge_get_records")
                  .use(quads ? "merge_put_quads" : "merge_put_elements");
  quads ? spec.output_quads("y", dtype) : spec.output("y", dtype);
  params.chunks = ceil_div(params.dim, 4);
  if (by_threads)
    return op.dispatch({kernels::attention_merge_threads, spec}, {from, y}, params,
                       one_thread_per(u64(params.rows) * params.chunks, 64));
  spec.num("SIZE", merge_threads);
  params.rounds = ceil_div(params.splits, max_splits);
  return op.dispatch({kernels::attention_merge, spec}, {from, y}, params,
                     one_group_per(u64(params.rows) * ceil_div(params.chunks, chunks_per_group)));
}

}  // namespace

Status merge_handed(Plan& op, const TensorArg& splits, u32 heads, u32 dim, const Operand& y) {
  return merge(op, splits, y, DType::f32, Form::splits,
               {.rows = heads, .splits = handed_splits, .heads = heads, .queries = 1, .head_stride = dim, .dim = dim});
}

Status attend(Plan& op, const Attention& a) {
  const u32 dim = a.q.tensor.dim(-1), value_dim = a.v.dim(-1);
  REQUIRE(op, is_float(a.q.dtype) && is_float(a.k.dtype()) && is_float(a.y.dtype()) && a.k.dtype() == a.v.dtype(),
          "attention needs floating-point tensors, not ", a.q.dtype, ", ", a.k.dtype(), " and ", a.v.dtype());
  REQUIRE(op, a.kv_heads > 0 && a.heads % a.kv_heads == 0, a.heads, " heads can't share ", a.kv_heads, " key heads");
  REQUIRE_SUPPORTED(op, dim <= max_dim && value_dim <= max_dim, "heads of ", std::max(dim, value_dim),
                    " elements are not supported; at most ", max_dim, " are");
  if (a.y.numel() == 0 || a.heads == 0) return resize_splits(op, a, 1);
  REQUIRE(op, dim > 0, "heads of ", a.q.tensor.shape(), " have no elements");
  TRY(const Tiling tiling, tiling_of(op, a));
  TRY(const Mask mask, mask_of(op, a));
  const bool turns = turns_itself(op, a, tiling);
  if (a.turn && !turns) TRY_DO(turn_into_caches(op, *a.turn, a.k, a.v));
  const u32 rows = a.batch * a.heads * a.queries;
  const auto splits_for = [&](u32 keys, u32 queries) { return splits_of(op, a, tiling, keys, queries); };
  const auto run = [&](const Operand& y, Form form, u32 splits) {
    AttentionParams params = params_of(a, tiling, splits);
    if (turns) params.turn[0] = a.turn->first, params.turn[1] = a.turn->width(), params.turn[2] = a.turn->half();
    const u64 groups = u64(a.batch) * (a.heads / tiling.heads) * ceil_div(a.queries, std::max(tiling.queries, 1u));
    const Grid grid = tiling.queries > 0 ? one_group_per(groups * splits)
                                         : one_thread_per(u64(params.count) * tiling.team, tiling.workgroup);
    const Bound bound =
        tiling.in_chunks() ? bind_chunks(a, tiling, mask, turns, y, form) : bind(a, tiling, mask, y, form);
    op.note_operations(u64(2) * rows * a.keys * (dim + value_dim));
    return op.dispatch({tiling.kernel, bound.spec}, std::span(bound.operands).first(bound.used),
                       std::as_bytes(std::span(&params, 1)), grid);
  };
  const u32 splits = splits_for(a.keys, a.queries);
  if (hands_on(a, tiling) && op.branch(a.queries == 1 && splits > 1 && splits <= handed_splits)) {
    TRY_DO(resize_splits(op, a, handed_splits));
    return run(*a.splits, Form::splits, handed_splits);
  }
  TRY_DO(resize_splits(op, a, 1));
  if (!op.branch(splits > 1)) return run(a.y, Form::whole, 1);

  // Enough for any number of queries and keys.
  const u32 few = std::min(a.max_queries, few_queries), most = splits_for(a.max_keys, a.max_queries);
  const u64 parts = std::max<u64>(u64(few) * splits_for(a.max_keys, few), most > 1 ? u64(a.max_queries) * most : 0);
  const Operand scratch = op.scratch(u64(a.batch) * a.heads * parts * (ceil_div(value_dim, 4) + 1) * 4 * sizeof(f32));
  TRY_DO(run(scratch, Form::records, splits));
  return merge(op, scratch, a.y, a.y.dtype(), Form::records,
               {.rows = rows,
                .splits = splits,
                .heads = a.heads,
                .queries = a.queries,
                .batch_stride = a.y_at.batch,
                .head_stride = a.y_at.head,
                .query_stride = a.y_at.position,
                .dim = value_dim,
                .quiet = a.quiet},
               tiling.queries == 0);
}

}  // namespace pteron::ops
