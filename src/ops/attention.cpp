// SPDX-License-Identifier: BSD-3-Clause
// Attention over a KV cache and over plain tensors: one kernel family, told apart by strides and flags.
#include "ops/attention_kernels.h"

#include <cmath>

namespace pteron::ops {
namespace {

struct CacheParams {
  u32 count, row, positions, capacity, first;
};

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

// Has a tensor the leading axes of the query, or one element in each of them?
bool serves(const Shape& tensor, const Shape& query) {
  if (batches(tensor) == 1) return true;
  if (tensor.rank() != query.rank()) return false;
  for (u32 axis = 0; axis + 3 < tensor.rank(); ++axis)
    if (tensor[axis] != query[axis]) return false;
  return true;
}

// A tensor of heads: [batch.., head, position, dim], or with positions before heads.
struct Heads {
  TensorArg tensor;
  bool positions_first = false;

  u32 count() const { return tensor.dim(positions_first ? -2 : -3); }
  u32 positions() const { return tensor.dim(positions_first ? -3 : -2); }
  u32 max_positions() const { return tensor.max().dim(positions_first ? -3 : -2); }
  // One batch serves all.
  Strides strides() const {
    const u32 batch = batches(tensor.shape());
    return positions_first ? position_major(tensor, batch > 1) : head_major(tensor, batch);
  }
};

// Which tensors have positions before heads; bits.
enum Layout : u32 { q_positions = 1, k_positions = 2, v_positions = 4, y_positions = 8 };

// Torch's attention: masks may be boolean, and a query that sees no key gets zeros.
struct Manner {
  bool causal = false, quiet = false;
};

// Attention without a cache: op(q, k, v, mask?, …, out). Keys of one batch or of fewer heads serve several of the
// query's.
Status attend_plain(Plan& op, u32 scale_arg, Manner manner, u32 layout = 0) {
  const TensorArg q = op.tensor(0), k = op.tensor(1), v = op.tensor(2), y = op.last_output();
  const u32 least = layout == 0 ? 2 : 3;
  REQUIRE(op, q.rank() >= least && k.rank() >= least && v.rank() >= least, "attention needs [.., positions, dim], not ",
          q.shape(), ", ", k.shape(), " and ", v.shape());
  REQUIRE(op, q.dim(-1) == k.dim(-1), "heads of the query have ", q.dim(-1), " elements, those of the key ", k.dim(-1));
  const Heads queries{q, (layout & q_positions) != 0}, keys{k, (layout & k_positions) != 0},
      values{v, (layout & v_positions) != 0}, results{y, (layout & y_positions) != 0};
  REQUIRE_LIVE(op,
               keys.positions() == values.positions() && keys.count() == values.count() &&
                   batches(k.shape()) == batches(v.shape()),
               "key ", k.shape(), " and value ", v.shape(), " differ");
  REQUIRE_LIVE(op, serves(k.shape(), q.shape()), "query ", q.shape(), " and key ", k.shape(),
               " have different batches");
  Shape shape = q.shape();
  const u32 rank = q.rank();
  if (queries.positions_first != results.positions_first) std::swap(shape[rank - 3], shape[rank - 2]);
  shape[rank - 1] = v.dim(-1);
  TRY_DO(op.resize(y, shape));
  Attention a{q, k, v, y, op.maybe_tensor(3)};
  a.batch = batches(q.shape());
  a.heads = queries.count();
  a.kv_heads = keys.count();
  a.queries = queries.positions();
  a.max_queries = queries.max_positions();
  a.keys = keys.positions();
  a.max_keys = keys.max_positions();
  a.scale = scale_of(op, scale_arg, q.dim(-1));
  a.causal = manner.causal;
  a.quiet = manner.quiet;
  a.q_at = queries.strides();
  a.k_at = keys.strides();
  a.v_at = values.strides();
  a.y_at = results.strides();
  if (a.mask) {
    REQUIRE_LIVE(op, serves(a.mask->shape(), q.shape()), "query ", q.shape(), " and mask ", a.mask->shape(),
                 " have different batches");
    TRY(a.mask_at, mask_strides(op, *a.mask, a));
  }
  return attend(op, a);
}

// et_vk.sdpa(q, k, v, mask?, scale?, out)
Status sdpa(Plan& op) { return attend_plain(op, 4, {}); }

Status check_torchs(Plan& op) {
  const f64 dropout = op.number(4);
  REQUIRE(op, dropout == 0, "dropout is ", dropout, "; only 0 can be run");
  REQUIRE(op, !op.flag(5) || op.is_null(3), "attention is either causal or has a mask, not both");
  return {};
}

// scaled_dot_product_attention(q, k, v, mask?, dropout, is_causal, scale?, enable_gqa, out)
Status aten_sdpa(Plan& op) {
  TRY_DO(check_torchs(op));
  return attend_plain(op, 6, {.causal = op.flag(5), .quiet = true});
}

// pteron.attend_heads: the same, or et_vk's, of tensors with positions before heads; made by
// passes/attention_heads.cpp.
Status attend_heads(Plan& op) {
  TRY_DO(check_torchs(op));
  return attend_plain(op, 6, {.causal = op.flag(5), .quiet = op.flag(8)}, u32(op.integer(9)));
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
                     u32 first_arg, const TensorArg& y, const Turn* turn, const std::optional<TensorArg>& splits) {
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
  a.splits = splits;
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
    {"pteron.attend_heads", attend_heads,
     "q, k, v, mask?, dropout: number = 0, causal: flag = false, scale: number?, gqa: flag = false, quiet: flag, "
     "layout: int -> out"_sig,
     internal},
};
extern const OpList attention_ops = entries;

}  // namespace pteron::ops
