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

// Attention of q [batch, position, head, dim] over caches; the arguments from `first_arg` on are mask, dropout,
// is_causal and scale. A mask covers as many positions of the caches as it is wide; without one, the positions up to
// the last query's are visible.
Status attend_cached(Plan& op, const Query& q, const TensorArg& k_cache, const TensorArg& v_cache, i64 start,
                     u32 first_arg, const TensorArg& y);

// Can value [b, S, H, D] be written into cache [b, C, H, D] from position `start` on? Marks the cache as one.
Status check_cache_write(Plan& op, const TensorArg& value, const TensorArg& cache, i64 start);

}  // namespace pteron::ops
