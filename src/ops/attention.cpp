// SPDX-License-Identifier: BSD-3-Clause
// Attention over a KV cache and over plain tensors: one kernel family, told apart by strides and flags.
#include "ops/common.h"

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
  u32 pad[3];
  Strides q, k, v, y, mask;
};

struct MergeParams {
  u32 count, dim, splits, heads, queries, batch_stride, head_stride, query_stride;
};

struct Attention {
  TensorArg q, k, v, y;
  std::optional<TensorArg> mask;
  u32 batch, heads, kv_heads, queries, keys, max_keys, max_queries, dim;
  u32 offset = 0;
  bool causal = false;
  f32 scale = 1;
  Strides q_at, k_at, v_at, y_at, mask_at;
};

constexpr u32 keys_per_split = 64;
constexpr u32 max_splits = 32;

Status attend(Plan& op, const Attention& a) {
  const u32 rows = a.batch * a.heads * a.queries;
  if (rows == 0 || a.dim == 0) return {};
  REQUIRE_SUPPORTED(op, a.dim <= 512, "heads of ", a.dim, " elements are not supported; at most 512 are");
  const DType mask_type = a.mask ? a.mask->dtype() : a.q.dtype();
  const auto kernel = [&](bool partial) {
    return Kernel(kernels::attention, Spec()
                                          .num("D", a.dim)
                                          .flag("CAUSAL", a.causal)
                                          .flag("HAS_MASK", a.mask.has_value())
                                          .flag("PARTIAL", partial)
                                          .input("q", a.q.dtype())
                                          .input("k", a.k.dtype())
                                          .input("mask", mask_type)
                                          .output("y", partial ? DType::f32 : a.y.dtype()));
  };
  AttentionParams params{
      rows,   a.heads, a.queries, 1,      a.keys,   std::max(a.keys, 1u), a.heads / a.kv_heads, a.offset, a.scale, {},
      a.q_at, a.k_at,  a.v_at,    a.y_at, a.mask_at};
  const Operand mask = a.mask ? Operand(*a.mask) : Operand(a.q);
  // Few queries leave most of a GPU idle: split their keys.
  if (!op.branch(a.queries <= 4 && a.keys > keys_per_split))
    return op.dispatch(kernel(false), {a.q, a.k, a.v, mask, a.y}, params, one_thread_per(rows, 64));

  const u32 most = std::min(max_splits, ceil_div(std::max(a.max_keys, 1u), keys_per_split));
  const u32 splits = std::min(most, ceil_div(std::max(a.keys, 1u), keys_per_split));
  params.splits = splits;
  params.split_keys = ceil_div(a.keys, splits);
  params.count = rows * splits;
  const Operand scratch =
      op.scratch(u64(a.batch) * a.heads * std::min(a.max_queries, 4u) * most * (a.dim + 2) * sizeof(f32));
  TRY_DO(op.dispatch(kernel(true), {a.q, a.k, a.v, mask, scratch}, params, one_thread_per(params.count, 64)));
  const u32 count = rows * a.dim;
  return op.dispatch({kernels::attention_merge, Spec().output("y", a.y.dtype())}, {scratch, a.y},
                     MergeParams{count, a.dim, splits, a.heads, a.queries, a.y_at.batch, a.y_at.head, a.y_at.position},
                     one_thread_per(count, 64));
}

// Writes value[b, S, H, D] into cache[b, C, H, D] from position `start` on.
Status write_cache(Plan& op, const TensorArg& value, const TensorArg& cache, i64 start) {
  REQUIRE(op, value.rank() == cache.rank() && value.rank() >= 3, "value ", value.shape(), " and cache ", cache.shape(),
          " must have equal rank, at least 3");
  const i32 rank = i32(value.rank());
  for (i32 axis = 0; axis < rank; ++axis)
    REQUIRE(op, axis == rank - 3 || value.dim(axis) == cache.dim(axis), "value ", value.shape(), " and cache ",
            cache.shape(), " differ in axis ", axis);
  REQUIRE(op, is_float(value.dtype()) && is_float(cache.dtype()), "caches hold floating-point values, not ",
          cache.dtype());
  const u32 positions = value.dim(-3), capacity = cache.dim(-3);
  REQUIRE_LIVE(op, start >= 0 && start + i64(positions) <= i64(capacity), "positions ", start, " to ",
               start + i64(positions), " don't fit a cache of ", capacity, "; the context is full");
  op.is_cache(cache, u32(rank - 3));
  if (value.numel() == 0) return {};
  return op.dispatch(
      {kernels::cache_write, Spec().input("value", value.dtype()).output("cache", cache.dtype())}, {value, cache},
      CacheParams{u32(value.numel()), value.dim(-1) * value.dim(-2), positions, capacity, u32(std::max<i64>(start, 0))},
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

// A mask that broadcasts to [batch, heads, queries, keys].
Result<Strides> mask_strides(Plan& op, const TensorArg& mask, const Attention& a) {
  REQUIRE(op, is_float(mask.dtype()), "the mask must be floating-point, not ", mask.dtype());
  REQUIRE(op, mask.rank() <= 4, "the mask has rank ", mask.rank(), "; at most 4 is supported");
  const std::array<u32, 4> want{a.batch, a.heads, a.queries, a.keys};
  std::array<u32, 4> strides{};
  u32 stride = 1;
  for (u32 i = 0; i < mask.rank(); ++i) {
    const u32 axis = 3 - i, size = mask.dim(-1 - i32(i));
    REQUIRE_LIVE(op, size == 1 || size == want[axis] || (axis == 3 && size >= want[axis]), "a mask of ", mask.shape(),
                 " does not fit scores [", join(want), "]");
    strides[axis] = size == 1 ? 0 : stride;
    stride *= size;
  }
  return Strides{strides[0], strides[1], strides[2], strides[3]};
}

// q·k·v of [batch, position, head, dim] over caches that hold `keys` positions.
Status attend_cached(Plan& op, const TensorArg& q, const TensorArg& k_cache, const TensorArg& v_cache, i64 start,
                     u32 first_arg, const TensorArg& y) {
  const auto mask = op.maybe_tensor(first_arg);
  const bool causal = op.flag_or(first_arg + 2, true);
  REQUIRE(op, op.number_or(first_arg + 1, 0) == 0, "dropout is ", op.number_or(first_arg + 1, 0),
          "; only 0 can be run");
  REQUIRE(op, k_cache.shape() == v_cache.shape(), "the caches ", k_cache.shape(), " and ", v_cache.shape(), " differ");
  REQUIRE(op, q.rank() == k_cache.rank() && (q.rank() == 3 || q.rank() == 4), "the query ", q.shape(),
          " and the caches ", k_cache.shape(), " have wrong ranks");
  REQUIRE(op, q.dim(-1) == k_cache.dim(-1), "heads of the query have ", q.dim(-1), " elements, those of the caches ",
          k_cache.dim(-1));
  REQUIRE(op, k_cache.dim(-2) > 0 && q.dim(-2) % k_cache.dim(-2) == 0, q.dim(-2), " heads can't share ",
          k_cache.dim(-2), " key heads");
  const bool batched = q.rank() == 4;
  REQUIRE(op, !batched || q.dim(0) == k_cache.dim(0), "the query has batch ", q.dim(0), ", the caches ",
          k_cache.dim(0));
  REQUIRE(op, is_float(q.dtype()) && k_cache.dtype() == v_cache.dtype(), "attention needs floating-point tensors");
  TRY_DO(op.resize(y, q.shape()));
  Attention a{q,
              k_cache,
              v_cache,
              y,
              mask,
              batched ? q.dim(0) : 1,
              q.dim(-2),
              k_cache.dim(-2),
              q.dim(-3),
              0,
              k_cache.dim(-3),
              q.max().dim(-3),
              q.dim(-1)};
  a.keys = u32(std::clamp<i64>(start + i64(a.queries), 0, a.max_keys));
  a.offset = u32(std::max<i64>(start, 0));
  a.causal = causal;
  a.scale = f32(op.number_or(first_arg + 3, 1.0 / std::sqrt(f64(std::max(a.dim, 1u)))));
  a.q_at = position_major(q, batched);
  a.k_at = position_major(k_cache, batched);
  a.v_at = position_major(v_cache, batched);
  a.y_at = position_major(y, batched);
  if (mask) {
    TRY(a.mask_at, mask_strides(op, *mask, a));
  }
  return attend(op, a);
}

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
  const i64 start = op.integer(3);
  REQUIRE_LIVE(op, start >= 0 && start + i64(q.dim(-3)) <= i64(k_cache.dim(-3)), "positions ", start, " to ",
               start + i64(q.dim(-3)), " exceed the cache of ", k_cache.dim(-3));
  return attend_cached(op, q, k_cache, v_cache, start, 4, y);
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"sdpa_with_kv_cache.default", sdpa_with_kv_cache, {}, false, true},
    {"update_cache.default", update_cache, {}, false, true},
    {"custom_sdpa.default", custom_sdpa},
};
extern const OpList attention_ops = entries;

}  // namespace pteron::ops
