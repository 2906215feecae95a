// SPDX-License-Identifier: BSD-3-Clause
// What other ops need of attention over caches.
#pragma once

#include "ops/common.h"

namespace pteron::ops {

// Queries shaped like a tensor, whose values may lie elsewhere.
struct Query {
  TensorArg tensor;
  Operand data;
  DType dtype;

  Query() = default;
  Query(const TensorArg& t) : tensor(t), data(t), dtype(t.dtype()) {}
  Query(const TensorArg& t, const Operand& d, DType type) : tensor(t), data(d), dtype(type) {}
};

// Rotary embedding of the query and of the keys that belong to it, before those and their values go to the caches.
struct Turn {
  TensorArg q, k, v, cosines, sines;
  u32 first = 0;  // table row of the first query
  u32 start = 0;  // its position in the caches
  bool interleaved = false;
  Operand rotated;  // where queries go if a kernel of its own rotates

  u32 width() const { return cosines.dim(-1); }
  u32 half() const { return interleaved ? width() : width() / 2; }
};
// With a kernel of its own: rotates the queries, rotates the keys into the cache and copies the values there.
Status turn_into_caches(Plan& op, const Turn& turn, const TensorArg& k_cache, const TensorArg& v_cache);

// Attention of one query may hand its result on in splits, for an op that puts them together while it reads them
// (attention_put_splits.wgsl). A tensor [1, .., 1, handed_splits · row] keeps them. Its live shape says whether it
// does: else it has one row, and the result is where it always is.
constexpr u32 handed_splits = 16;
// Of heads of `dim` elements, in floats: whole bindings, so that a batch can have a lane of it.
constexpr u32 split_row(u32 heads, u32 dim) { return ceil_div(heads * (dim + 4), 64) * 64; }
Status merge_handed(Plan& op, const TensorArg& splits, u32 heads, u32 dim, const Operand& y);

// Attention of q [batch, position, head, dim] over caches; the arguments from `first_arg` on are mask, dropout,
// is_causal and scale. With a `turn`, the query is rotated and the caches are filled before. A mask covers as many
// positions of the caches as it is wide; without one, the positions up to the last query's are visible.
Status attend_cached(Plan& op, const Query& q, const TensorArg& k_cache, const TensorArg& v_cache, i64 start,
                     u32 first_arg, const TensorArg& y, const Turn* turn = nullptr,
                     const std::optional<TensorArg>& splits = std::nullopt);

// Can value [b, S, H, D] be written into cache [b, C, H, D] from position `start` on? Marks the cache as one.
Status check_cache_write(Plan& op, const TensorArg& value, const TensorArg& cache, i64 start);

}  // namespace pteron::ops
