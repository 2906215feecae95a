// SPDX-License-Identifier: BSD-3-Clause
// Attention over a KV cache and over plain tensors: one kernel family, told apart by strides and flags.
#include "ops/attention.h"

#include "ops/routes.h"

#include <cmath>
#include <limits>

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
  u32 batches, quiet, pad;
  Strides q, k, v, y, mask;
};

struct MaskParams {
  u32 count;
  f32 hidden;
};

struct MergeParams {
  u32 count, dim, splits, heads, queries, batch_stride, head_stride, query_stride, quiet;
};

struct Attention {
  Query q;
  TensorArg k, v, y;
  std::optional<TensorArg> mask;
  u32 batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, max_keys = 0, max_queries = 0;
  u32 offset = 0;
  bool causal = false;
  bool quiet = false;  // as torch's own attention: masks may be boolean, and a query that sees no key gets zeros
  f32 scale = 1;
  Strides q_at, k_at, v_at, y_at, mask_at;
};

constexpr u32 max_dim = 512;  // of a head: a thread keeps one in registers
constexpr u32 few_queries = 4;
constexpr u32 max_shared_heads = 8;
constexpr u32 max_shared_elements = 1024;  // of queries, which a thread keeps in memory of its own
constexpr u32 max_tile_chunks = 768;       // of keys and values in workgroup memory, 16 bytes each
constexpr u32 keys_per_split = 64;
constexpr u32 max_splits = 32;

// How a kernel divides the work.
struct Tiling {
  const graph::KernelSource& kernel;
  u32 heads = 1;       // per thread, with the same keys
  u32 workgroup = 64;  // threads
  u32 queries = 0;     // per workgroup; 0: a thread has one, with one split
  u32 tile = 0;        // keys in workgroup memory
};

Tiling threads_tiling(const gpu::DeviceInfo& device, u32 heads_per_kv, u32 dim) {
  if (device.adapter.type != gpu::AdapterType::cpu) return {kernels::attention_threads};
  // A processor saves loads by using a key for several heads, and has registers in memory anyway; small workgroups keep
  // its cores busy.
  u32 heads = std::min({heads_per_kv, max_shared_heads, std::max(max_shared_elements / dim, 1u)});
  while (heads_per_kv % heads != 0) --heads;
  return {kernels::attention_threads, heads, 16};
}

Result<Tiling> tiling_of(Plan& op, const Attention& a) {
  const u32 dim = a.q.tensor.dim(-1), value_dim = a.v.dim(-1);
  TRY(const std::string_view route, choose_route(op, "attention", {a.queries, dim, a.keys, a.batch * a.heads}));
  if (route == "group") return Tiling{kernels::attention_group, 1, 64, 1};
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
  return std::max(least, std::min(max_splits, ceil_div(keys, keys_per_split)));
}

// A mask as numbers that are added to the scores. One that is boolean becomes such numbers.
Result<std::pair<Operand, DType>> added_scores(Plan& op, const TensorArg& mask) {
  if (mask.dtype() != DType::boolean) return std::pair(Operand(mask), mask.dtype());
  const Operand scores = op.scratch(mask.max().numel() * sizeof(f32));
  const u32 count = u32(mask.numel());
  if (count > 0)
    TRY_DO(op.dispatch({kernels::mask_scores, Spec().input_quads("mask", mask.dtype()).output_quads("y", DType::f32)},
                       {mask, scores}, MaskParams{count, -std::numeric_limits<f32>::infinity()},
                       one_thread_per(ceil_div(count, 4), 64)));
  return std::pair(scores, DType::f32);
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
  std::pair<Operand, DType> mask{a.q.data, a.q.dtype};
  if (a.mask) {
    TRY(mask, added_scores(op, *a.mask));
  }
  const auto kernel = [&](bool partial) {
    Spec spec;
    if (tiling.queries != 1) spec.num("HEADS", tiling.heads).num("WORKGROUP", tiling.workgroup);
    if (tiling.tile > 0) spec.num("TILE", tiling.tile);
    return Kernel(tiling.kernel, spec.num("D", dim)
                                     .num("VALUE_D", value_dim)
                                     .flag("CAUSAL", a.causal)
                                     .flag("HAS_MASK", a.mask.has_value())
                                     .flag("PARTIAL", partial)
                                     .input("q", a.q.dtype)
                                     .input_quads("k", a.k.dtype())
                                     .input_quads("v", a.v.dtype())
                                     .input("mask", mask.second)
                                     .output("y", partial ? DType::f32 : a.y.dtype()));
  };
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
                         a.quiet,
                         0,
                         a.q_at,
                         a.k_at,
                         a.v_at,
                         a.y_at,
                         a.mask_at};
  const Grid grid = tiling.queries > 0
                        ? one_group_per(u64(a.batch) * a.heads * ceil_div(a.queries, tiling.queries) * splits)
                        : one_thread_per(params.count, tiling.workgroup);
  if (!op.branch(splits > 1)) return op.dispatch(kernel(false), {a.q.data, a.k, a.v, mask.first, a.y}, params, grid);

  // Enough for any number of queries and keys.
  const u32 few = std::min(a.max_queries, few_queries), most = splits_for(a.max_keys, a.max_queries);
  const u64 parts = std::max<u64>(u64(few) * splits_for(a.max_keys, few), most > 1 ? u64(a.max_queries) * most : 0);
  const Operand scratch = op.scratch(u64(a.batch) * a.heads * parts * (value_dim + 2) * sizeof(f32));
  TRY_DO(op.dispatch(kernel(true), {a.q.data, a.k, a.v, mask.first, scratch}, params, grid));
  const u32 count = rows * value_dim;
  return op.dispatch(
      {kernels::attention_merge, Spec().output("y", a.y.dtype())}, {scratch, a.y},
      MergeParams{count, value_dim, splits, a.heads, a.queries, a.y_at.batch, a.y_at.head, a.y_at.position, a.quiet},
      one_thread_per(count, 64));
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
  REQUIRE(op, is_float(mask.dtype()) || (a.quiet && mask.dtype() == DType::boolean),
          "the mask must be floating-point, not ", mask.dtype());
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

// Attention without a cache: op(q, k, v, mask?, …, out) of [batch.., head, position, dim]. Keys of one batch or of
// fewer heads serve several of the query's.
Status attend_plain(Plan& op, u32 scale_arg, bool causal, bool quiet) {
  const TensorArg q = op.tensor(0), k = op.tensor(1), v = op.tensor(2), y = op.last_output();
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
  a.scale = scale_of(op, scale_arg, q.dim(-1));
  a.causal = causal;
  a.quiet = quiet;
  a.q_at = head_major(q, batch);
  a.k_at = head_major(k, kv_batch);
  a.v_at = head_major(v, kv_batch);
  a.y_at = head_major(y, batch);
  if (a.mask) {
    TRY(a.mask_at, mask_strides(op, *a.mask, a));
  }
  return attend(op, a);
}

// et_vk.sdpa(q, k, v, mask?, scale?, out)
Status sdpa(Plan& op) { return attend_plain(op, 4, false, false); }

// scaled_dot_product_attention(q, k, v, mask?, dropout, is_causal, scale?, enable_gqa, out)
Status aten_sdpa(Plan& op) {
  const f64 dropout = op.number(4);
  const bool causal = op.flag(5);
  REQUIRE(op, dropout == 0, "dropout is ", dropout, "; only 0 can be run");
  REQUIRE(op, !causal || op.is_null(3), "attention is either causal or has a mask, not both");
  return attend_plain(op, 6, causal, true);
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
                     u32 first_arg, const TensorArg& y) {
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
    {"aten.scaled_dot_product_attention.default", aten_sdpa,
     "q, k, v, mask?, dropout: number = 0, causal: flag = false, scale: number?, gqa: flag = false -> out"_sig},
    {"et_vk.sdpa.default", sdpa, "q, k, v, mask?, scale: number? -> out"_sig},
};
extern const OpList attention_ops = entries;

}  // namespace pteron::ops
