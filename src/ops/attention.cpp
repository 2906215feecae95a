// SPDX-License-Identifier: BSD-3-Clause
// Attention over a KV cache and over plain tensors: one kernel family, told apart by strides and flags.
#include "ops/attention.h"

#include "ops/routes.h"

#include <cmath>

namespace pteron::ops {
namespace {

struct CacheParams {
  u32 count, row, positions, capacity, first;
};

// Strides of batch, head, position in elements.
struct Strides {
  u32 batch = 0, head = 0, position = 0, key = 0;
};

struct AttentionParams {
  u32 count, heads, queries, splits, keys, split_keys, heads_per_kv, offset;
  f32 scale;
  u32 batches;
  u32 tiles, pad;
  Strides q, k, v, y, mask;
  u32 turn[4];
};

struct MergeParams {
  u32 rows, chunks, splits, heads, queries, batch_stride, head_stride, query_stride, dim, rounds;
};

struct Attention {
  Query q;
  TensorArg k, v, y;
  std::optional<TensorArg> mask;
  u32 batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, max_keys = 0, max_queries = 0;
  u32 offset = 0;
  bool causal = false;
  f32 scale = 1;
  const Turn* turn = nullptr;
  Strides q_at, k_at, v_at, y_at, mask_at;
};

constexpr u32 max_dim = 512;  // of a head: a thread keeps one in registers
constexpr u32 few_queries = 4;
constexpr u32 max_shared_heads = 8;
constexpr u32 max_shared_elements = 1024;  // of queries, which a thread keeps in memory of its own
constexpr u32 max_tile_chunks = 768;       // of keys and values in workgroup memory, 16 bytes each
constexpr u32 tile_keys = 32;              // of attention_group
constexpr u32 unsplit_keys = 96;           // by a GPU
constexpr u32 max_splits = 64;             // that attention_merge puts together in one round
constexpr u32 chunks_per_group = 16;
constexpr u32 max_group_heads = 4;

// Results are written in quads where that can be; a merge always reads quads.
constexpr std::string_view put_quads = "fn put_result(at: u32, chunk: u32, v: vec4f) { y_put(at / 4u + chunk, v); }";
constexpr std::string_view put_elements =
    "fn put_result(at: u32, chunk: u32, v: vec4f) { for (var i = 0u; i < 4u; i++) { if (chunk * 4u + i < p.dim) { "
    "y[at + chunk * 4u + i] = y_store(v[i]); } } }";

// How a kernel divides the work.
struct Tiling {
  const graph::KernelSource& kernel;
  u32 heads = 1;       // per thread, with the same keys
  u32 workgroup = 64;  // threads
  u32 queries = 0;     // per workgroup; 0: a thread has one, with one split
  u32 tile = 0;        // keys in workgroup memory
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

Result<Tiling> tiling_of(Plan& op, const Attention& a) {
  const u32 dim = a.q.tensor.dim(-1), value_dim = a.v.dim(-1);
  TRY(const std::string_view route, choose_route(op, "attention", {a.queries, dim, a.keys, a.batch * a.heads}));
  if (route == "group")
    return Tiling{kernels::attention_group, shared_heads(a.heads / a.kv_heads, max_group_heads), 128, 1};
  if (route == "threads") return threads_tiling(op.device(), a.heads / a.kv_heads, dim);
  const u32 chunks = ceil_div(dim, 4) + ceil_div(value_dim, 4);
  return Tiling{kernels::attention_tiled, 1, 64, 64, std::max(max_tile_chunks / chunks / 4 * 4, 4u)};
}

// In how many parts the keys are walked. Few queries would leave most of a GPU idle, and a thread must not loop for
// too long.
u32 splits_of(const gpu::DeviceInfo& device, u32 keys, u32 queries, u32 dim, u32 value_dim, u32 heads) {
  const u64 rounds = u64(ceil_div(dim, 4) + ceil_div(value_dim, 4)) * (1 + heads) + heads + 1;  // for four keys
  const u64 longest = std::min<u64>(max_rounds(device) / rounds * 4, UINT32_MAX);
  const u32 least = std::max(ceil_div(keys, u32(longest)), 1u);
  if (queries > few_queries) return least;
  // A processor has few cores; on a GPU few keys are walked sooner than splits are put together.
  if (device.adapter.type == gpu::AdapterType::cpu) return std::max(least, std::min(32u, ceil_div(keys, 64)));
  return std::max(least, keys <= unsplit_keys ? 1 : std::min(max_splits, ceil_div(keys, tile_keys)));
}

// Can the kernel rotate, and fill the caches? It does for one query, which is then the last position.
bool turns_itself(Plan& op, const Attention& a, const Tiling& tiling) {
  if (!a.turn || tiling.queries != 1 || a.mask) return false;
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

Spec spec_of(const Attention& a, const Tiling& tiling, bool partial) {
  return Spec()
      .num("HEADS", tiling.heads)
      .num("D", a.q.tensor.dim(-1))
      .num("VALUE_D", a.v.dim(-1))
      .flag("CAUSAL", a.causal)
      .flag("HAS_MASK", a.mask.has_value())
      .flag("PARTIAL", partial);
}

Bound bind(const Attention& a, const Tiling& tiling, const Operand& y, bool partial) {
  Spec spec = spec_of(a, tiling, partial).num("WORKGROUP", tiling.workgroup).use("attention_put");
  if (tiling.tile > 0) spec.num("TILE", tiling.tile);
  spec.input_quads("q", a.q.dtype)
      .input_quads("k", a.k.dtype())
      .input_quads("v", a.v.dtype())
      .input("mask", a.mask ? a.mask->dtype() : a.q.dtype)
      .output("y", partial ? DType::f32 : a.y.dtype());
  return {spec, {a.q.data, a.k, a.v, a.mask ? Operand(*a.mask) : a.q.data, y}, 5};
}

Bound bind_group(const Attention& a, const Tiling& tiling, bool turns, const Operand& y, bool partial) {
  Bound out{spec_of(a, tiling, partial), {}, 0};
  const auto add = [&](const Operand& operand) { out.operands[out.used++] = operand; };
  if (turns) {
    const Turn& t = *a.turn;
    out.spec.flag("INTERLEAVED", t.interleaved)
        .use("attention_turned")
        .bind_input_quads("q", t.q.dtype())
        .bind_output_quads("k", a.k.dtype())
        .bind_output_quads("v", a.v.dtype())
        .bind_input_quads("new_k", t.k.dtype())
        .bind_input_quads("new_v", t.v.dtype())
        .bind_input("cosines", t.cosines.dtype())
        .bind_input("sines", t.sines.dtype());
    for (const TensorArg& operand : {t.q, a.k, a.v, t.k, t.v, t.cosines, t.sines}) add(operand);
  } else {
    out.spec.use("attention_plain")
        .bind_input_quads("q", a.q.dtype)
        .bind_input_quads("k", a.k.dtype())
        .bind_input_quads("v", a.v.dtype())
        .bind_input("mask", a.mask ? a.mask->dtype() : a.q.dtype);
    for (const Operand& operand : {a.q.data, Operand(a.k), Operand(a.v), a.mask ? Operand(*a.mask) : a.q.data})
      add(operand);
  }
  const DType stored = partial ? DType::f32 : a.y.dtype();
  if (a.v.dim(-1) % 4 == 0)
    out.spec.use("attention_put_quads").bind_output_quads("y", stored);
  else
    out.spec.use("attention_put").bind_output("y", stored);
  add(y);
  return out;
}

Status attend(Plan& op, const Attention& a) {
  const u32 rows = a.batch * a.heads * a.queries, dim = a.q.tensor.dim(-1), value_dim = a.v.dim(-1);
  REQUIRE(op, is_float(a.q.dtype) && is_float(a.k.dtype()) && is_float(a.y.dtype()) && a.k.dtype() == a.v.dtype(),
          "attention needs floating-point tensors, not ", a.q.dtype, ", ", a.k.dtype(), " and ", a.v.dtype());
  REQUIRE(op, a.kv_heads > 0 && a.heads % a.kv_heads == 0, a.heads, " heads can't share ", a.kv_heads, " key heads");
  REQUIRE_SUPPORTED(op, dim <= max_dim && value_dim <= max_dim, "heads of ", std::max(dim, value_dim),
                    " elements are not supported; at most ", max_dim, " are");
  if (a.y.numel() == 0) return {};
  REQUIRE(op, dim > 0, "heads of ", a.q.tensor.shape(), " have no elements");
  TRY(const Tiling tiling, tiling_of(op, a));
  const bool turns = turns_itself(op, a, tiling);
  if (a.turn && !turns) TRY_DO(turn_into_caches(op, *a.turn, a.k, a.v));
  const auto splits_for = [&](u32 keys, u32 queries) {
    return splits_of(op.device(), keys, queries, dim, value_dim, tiling.heads);
  };
  const u32 splits = splits_for(a.keys, a.queries);
  AttentionParams params{rows / tiling.heads * splits,
                         a.heads,
                         a.queries,
                         splits,
                         a.keys,
                         std::max(ceil_div(a.keys, splits), 1u),
                         a.heads / a.kv_heads,
                         a.offset,
                         a.scale,
                         a.batch,
                         0,
                         0,
                         a.q_at,
                         a.k_at,
                         a.v_at,
                         a.y_at,
                         a.mask_at,
                         {}};
  params.tiles = ceil_div(params.split_keys, tile_keys);
  if (turns) params.turn[0] = a.turn->first, params.turn[1] = a.turn->width(), params.turn[2] = a.turn->half();
  const Grid grid =
      tiling.queries > 0
          ? one_group_per(u64(a.batch) * (a.heads / tiling.heads) * ceil_div(a.queries, tiling.queries) * splits)
          : one_thread_per(params.count, tiling.workgroup);
  const auto run = [&](const Operand& y, bool partial) {
    const Bound bound = tiling.queries == 1 ? bind_group(a, tiling, turns, y, partial) : bind(a, tiling, y, partial);
    return op.dispatch({tiling.kernel, bound.spec}, std::span(bound.operands).first(bound.used),
                       std::as_bytes(std::span(&params, 1)), grid);
  };
  if (!op.branch(splits > 1)) return run(a.y, false);

  // Enough for any number of queries and keys.
  const u32 few = std::min(a.max_queries, few_queries), most = splits_for(a.max_keys, a.max_queries);
  const u64 parts = std::max<u64>(u64(few) * splits_for(a.max_keys, few), most > 1 ? u64(a.max_queries) * most : 0);
  const u32 chunks = ceil_div(value_dim, 4);
  const Operand scratch = op.scratch(u64(a.batch) * a.heads * parts * (chunks + 1) * 4 * sizeof(f32));
  TRY_DO(run(scratch, true));
  const bool quads = value_dim % 4 == 0;
  Spec merge;
  if (quads)
    merge.output_quads("y", a.y.dtype());
  else
    merge.output("y", a.y.dtype());
  return op.dispatch({kernels::attention_merge, merge.code(quads ? put_quads : put_elements)}, {scratch, a.y},
                     MergeParams{rows, chunks, splits, a.heads, a.queries, a.y_at.batch, a.y_at.head, a.y_at.position,
                                 value_dim, ceil_div(splits, max_splits)},
                     one_group_per(u64(rows) * ceil_div(chunks, chunks_per_group)));
}

// Writes value[b, S, H, D] into cache[b, C, H, D] from position `start` on.
Status write_cache(Plan& op, const TensorArg& value, const TensorArg& cache, i64 start) {
  TRY_DO(check_cache_write(op, value, cache, start));
  if (value.numel() == 0) return {};
  return op.dispatch({kernels::cache_write, Spec().input("value", value.dtype()).output("cache", cache.dtype())},
                     {value, cache},
                     CacheParams{u32(value.numel()), value.dim(-1) * value.dim(-2), value.dim(-3), cache.dim(-3),
                                 u32(std::max<i64>(start, 0))},
                     one_thread_per(value.numel(), 64));
}

// update_cache(value, cache, start, out): the result is a placeholder that nobody reads.
Status update_cache(Plan& op) {
  const TensorArg value = op.tensor(0), cache = op.tensor(1), y = op.output(3);
  TRY_DO(op.resize(y, y.max()));
  return write_cache(op, value, cache, op.integer(2));
}

// Strides of [batch, position, head, dim].
Strides position_major(const TensorArg& t, bool batched) {
  const u32 row = t.dim(-1) * t.dim(-2);
  return {batched ? row * t.dim(-3) : 0, t.dim(-1), row, 0};
}

// Strides of [batch.., head, position, dim]; one batch serves all.
Strides head_major(const TensorArg& t, u32 batch) {
  const u32 head = t.dim(-1) * t.dim(-2);
  return {batch > 1 ? head * t.dim(-3) : 0, head, t.dim(-1), 0};
}

// All axes before the last three.
u32 batches(const Shape& shape) { return shape.rank() > 3 ? u32(shape.product(0, shape.rank() - 3)) : 1; }

// A mask that broadcasts to [batch, heads, queries, keys]. Axes before those stand for the batch together.
Result<Strides> mask_strides(Plan& op, const TensorArg& mask, const Attention& a) {
  REQUIRE(op, is_float(mask.dtype()), "the mask must be floating-point, not ", mask.dtype());
  const std::array<u32, 4> want{a.batch, a.heads, a.queries, a.keys},
      sizes{batches(mask.shape()), mask.dim(-3), mask.dim(-2), mask.dim(-1)};
  std::array<u32, 4> strides{};
  u32 stride = 1;
  for (u32 axis = 4; axis-- > 0;) {
    REQUIRE_LIVE(op, sizes[axis] == 1 || sizes[axis] == want[axis], "a mask of ", mask.shape(),
                 " does not fit scores [", join(want), "]");
    strides[axis] = sizes[axis] == 1 ? 0 : stride;
    stride *= sizes[axis];
  }
  return Strides{strides[0], strides[1], strides[2], strides[3]};
}

f32 scale_of(Plan& op, u32 arg, u32 dim) { return f32(op.number_or(arg, 1.0 / std::sqrt(f64(std::max(dim, 1u))))); }

// et_vk.sdpa(q, k, v, mask?, scale?, out) of [batch.., head, position, dim]. Keys of one batch or of fewer heads serve
// several of the query's.
Status sdpa(Plan& op) {
  const TensorArg q = op.tensor(0), k = op.tensor(1), v = op.tensor(2), y = op.output(5);
  REQUIRE(op, q.rank() >= 2 && k.rank() >= 2 && v.rank() >= 2, "attention needs [.., positions, dim], not ", q.shape(),
          ", ", k.shape(), " and ", v.shape());
  REQUIRE(op, q.dim(-1) == k.dim(-1), "heads of the query have ", q.dim(-1), " elements, those of the key ", k.dim(-1));
  const u32 batch = batches(q.shape()), kv_batch = batches(k.shape());
  REQUIRE_LIVE(op, k.dim(-2) == v.dim(-2) && k.dim(-3) == v.dim(-3) && kv_batch == batches(v.shape()), "key ",
               k.shape(), " and value ", v.shape(), " differ");
  REQUIRE_LIVE(op, kv_batch == 1 || kv_batch == batch, "query ", q.shape(), " and key ", k.shape(),
               " have different batches");
  Shape shape = q.shape();
  shape[q.rank() - 1] = v.dim(-1);
  TRY_DO(op.resize(y, shape));
  Attention a{q, k, v, y, op.maybe_tensor(3)};
  a.batch = batch;
  a.heads = q.dim(-3);
  a.kv_heads = k.dim(-3);
  a.queries = q.dim(-2);
  a.max_queries = q.max().dim(-2);
  a.keys = k.dim(-2);
  a.max_keys = k.max().dim(-2);
  a.scale = scale_of(op, 4, q.dim(-1));
  a.q_at = head_major(q, batch);
  a.k_at = head_major(k, kv_batch);
  a.v_at = head_major(v, kv_batch);
  a.y_at = head_major(y, batch);
  if (a.mask) {
    TRY(a.mask_at, mask_strides(op, *a.mask, a));
  }
  return attend(op, a);
}

}  // namespace

Status check_cache_write(Plan& op, const TensorArg& value, const TensorArg& cache, i64 start) {
  REQUIRE(op, value.rank() == cache.rank() && value.rank() >= 3, "value ", value.shape(), " and cache ", cache.shape(),
          " must have equal rank, at least 3");
  const i32 rank = i32(value.rank());
  for (i32 axis = 0; axis < rank; ++axis)
    REQUIRE(op, axis == rank - 3 || value.dim(axis) == cache.dim(axis), "value ", value.shape(), " and cache ",
            cache.shape(), " differ in axis ", axis);
  REQUIRE(op, is_float(value.dtype()) && is_float(cache.dtype()), "caches hold floating-point values, not ",
          cache.dtype());
  const u32 positions = value.dim(-3), capacity = cache.dim(-3);
  REQUIRE_LIVE(op, start >= 0 && saturating_add(start, positions) <= i64(capacity), "positions ", start, " to ",
               saturating_add(start, positions), " don't fit a cache of ", capacity, "; the context is full");
  op.writes_cache(cache, u32(rank - 3), u64(std::clamp<i64>(saturating_add(start, positions), 0, capacity)));
  return {};
}

Status attend_cached(Plan& op, const Query& query, const TensorArg& k_cache, const TensorArg& v_cache, i64 start,
                     u32 first_arg, const TensorArg& y, const Turn* turn) {
  const TensorArg& q = query.tensor;
  const f64 dropout = op.number(first_arg + 1);
  REQUIRE(op, dropout == 0, "dropout is ", dropout, "; only 0 can be run");
  REQUIRE(op, k_cache.shape() == v_cache.shape(), "the caches ", k_cache.shape(), " and ", v_cache.shape(), " differ");
  REQUIRE(op, q.rank() == k_cache.rank() && (q.rank() == 3 || q.rank() == 4), "the query ", q.shape(),
          " and the caches ", k_cache.shape(), " have wrong ranks");
  REQUIRE(op, q.dim(-1) == k_cache.dim(-1), "heads of the query have ", q.dim(-1), " elements, those of the caches ",
          k_cache.dim(-1));
  const bool batched = q.rank() == 4;
  REQUIRE(op, !batched || q.dim(0) == k_cache.dim(0), "the query has batch ", q.dim(0), ", the caches ",
          k_cache.dim(0));
  REQUIRE_LIVE(op, start >= 0, "the first position is ", start, "; it must not be negative");
  TRY_DO(op.resize(y, q.shape()));
  const u32 capacity = k_cache.dim(-3);
  Attention a{query, k_cache, v_cache, y, op.maybe_tensor(first_arg)};
  a.turn = turn;
  a.batch = batched ? q.dim(0) : 1;
  a.heads = q.dim(-2);
  a.kv_heads = k_cache.dim(-2);
  a.queries = q.dim(-3);
  a.max_queries = q.max().dim(-3);
  a.max_keys = capacity;
  a.offset = u32(std::max<i64>(start, 0));
  a.causal = op.flag_or(first_arg + 2, !a.mask);
  a.scale = scale_of(op, first_arg + 3, q.dim(-1));
  a.q_at = position_major(q, batched);
  a.k_at = position_major(k_cache, batched);
  a.v_at = position_major(v_cache, batched);
  a.y_at = position_major(y, batched);
  if (a.mask) {
    a.keys = a.mask->dim(-1) == 1 ? capacity : a.mask->dim(-1);
    REQUIRE_LIVE(op, a.keys <= capacity, "a mask of ", a.mask->shape(), " is wider than the caches, which hold ",
                 capacity, " positions");
    TRY(a.mask_at, mask_strides(op, *a.mask, a));
  } else {
    REQUIRE_LIVE(op, saturating_add(start, a.queries) <= i64(capacity), "positions ", start, " to ",
                 saturating_add(start, a.queries), " don't fit caches of ", capacity, "; the context is full");
    a.keys = u32(std::clamp<i64>(saturating_add(start, a.queries), 0, capacity));
  }
  for (const TensorArg& cache : {k_cache, v_cache}) op.reads_cache(cache, cache.rank() - 3, a.keys);
  return attend(op, a);
}

namespace {

// sdpa_with_kv_cache(q, k, v, k_cache, v_cache, start, seq_len, mask?, dropout, is_causal, scale?, out)
Status sdpa_with_kv_cache(Plan& op) {
  const TensorArg q = op.tensor(0), k = op.tensor(1), v = op.tensor(2), k_cache = op.tensor(3), v_cache = op.tensor(4),
                  y = op.output(11);
  const i64 start = op.integer(5);
  REQUIRE_LIVE(op, q.dim(-3) == k.dim(-3) && k.shape() == v.shape(), "query ", q.shape(), ", key ", k.shape(),
               " and value ", v.shape(), " have different positions");
  TRY_DO(write_cache(op, k, k_cache, start));
  TRY_DO(write_cache(op, v, v_cache, start));
  return attend_cached(op, q, k_cache, v_cache, start, 7, y);
}

// custom_sdpa(q, k_cache, v_cache, start, mask?, dropout, is_causal, scale?, out)
Status custom_sdpa(Plan& op) {
  const TensorArg q = op.tensor(0), k_cache = op.tensor(1), v_cache = op.tensor(2), y = op.output(8);
  return attend_cached(op, q, k_cache, v_cache, op.integer(3), 4, y);
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"sdpa_with_kv_cache.default", sdpa_with_kv_cache,
     "q, k, v, cache k_cache, cache v_cache, start: int, positions: any, mask?, dropout: number = 0, causal: flag?, "
     "scale: number? -> out"_sig},
    {"update_cache.default", update_cache, "value, cache cache, start: int -> out"_sig},
    {"custom_sdpa.default", custom_sdpa,
     "q, k_cache, v_cache, start: int, mask?, dropout: number = 0, causal: flag?, scale: number? -> out"_sig},
    {"et_vk.sdpa.default", sdpa, "q, k, v, mask?, scale: number? -> out"_sig},
};
extern const OpList attention_ops = entries;

}  // namespace pteron::ops
