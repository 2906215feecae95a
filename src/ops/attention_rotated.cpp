// SPDX-License-Identifier: BSD-3-Clause
// Attention that rotates its queries and keys itself: one kernel turns them and fills the caches, then attention runs.
#include "ops/attention.h"
#include "ops/rotary.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 count, q_threads, k_threads, half, q_heads, kv_heads, positions, dim, first, table_width, start, capacity;
};

// Row of the tables for position 0. Tables may stand for their rows from `start` to `end`, as slice_copy takes them.
Result<u32> first_row(Plan& op, u32 start_arg, u32 end_arg, u32 rows, u32 positions) {
  i64 start = op.integer(start_arg), end = rows;
  if (!op.is_null(end_arg)) {
    const auto bound = [&](i64 v) { return std::clamp<i64>(v < 0 ? v + rows : v, 0, rows); };
    start = bound(start);
    end = bound(op.integer(end_arg));
  }
  REQUIRE_LIVE(op, start >= 0 && saturating_add(start, positions) <= end, "positions ", start, " to ",
               saturating_add(start, positions), " exceed the rows of the rotary tables, which end at ", end);
  return u32(std::clamp<i64>(start, 0, rows));
}

// pteron.attend_rotated(q, k, v, cos, sin, table_start, table_end?, k_cache, v_cache, start, interleaved, mask?,
// dropout, is_causal, scale?, [out, splits?]), made by passes/rotary_cache.cpp and passes/attention_splits.cpp.
Status attend_rotated(Plan& op) {
  const TensorArg q = op.tensor(0), k = op.tensor(1), v = op.tensor(2), cosines = op.tensor(3), sines = op.tensor(4),
                  k_cache = op.tensor(7), v_cache = op.tensor(8), y = op.list_output(15, 0);
  const i64 start = op.integer(9);
  const bool interleaved = op.flag(10);
  TRY_DO(check_cache_write(op, k, k_cache, start));
  TRY_DO(check_cache_write(op, v, v_cache, start));
  TRY_DO(check_rotary(op, q, cosines, sines, interleaved));
  TRY_DO(check_rotary(op, k, cosines, sines, interleaved));
  REQUIRE(op, q.rank() == k.rank() && q.dim(-1) == k.dim(-1) && q.dim(-1) % 2 == 0, "query ", q.shape(), " and key ",
          k.shape(), " don't fit");
  REQUIRE_LIVE(op, q.dim(-3) == k.dim(-3) && k.shape() == v.shape(), "query ", q.shape(), ", key ", k.shape(),
               " and value ", v.shape(), " have different positions");
  const u32 positions = q.dim(-3), width = cosines.dim(-1);
  TRY(const u32 first, first_row(op, 5, 6, u32(cosines.numel() / width), positions));

  Turn turn{q, k, v, cosines, sines, first, u32(std::max<i64>(start, 0)), interleaved, {}};
  turn.rotated = op.scratch(q.max().numel() * sizeof(f32));
  std::optional<TensorArg> splits;
  if (op.list_size(15) > 1) splits = op.list_output(15, 1);
  return attend_cached(op, Query(q, turn.rotated, DType::f32), k_cache, v_cache, start, 11, y, &turn, splits);
}

}  // namespace

Status turn_into_caches(Plan& op, const Turn& turn, const TensorArg& k_cache, const TensorArg& v_cache) {
  const TensorArg &q = turn.q, &k = turn.k;
  const Spec spec = Spec()
                        .flag("INTERLEAVED", turn.interleaved)
                        .flag("PAIRED", false)
                        .input("q", q.dtype())
                        .input("k", k.dtype())
                        .input("v", turn.v.dtype())
                        .input("cosines", turn.cosines.dtype())
                        .input("sines", turn.sines.dtype())
                        .output("y", DType::f32)
                        .output("k_cache", k_cache.dtype())
                        .output("v_cache", v_cache.dtype());
  const u32 q_threads = u32(q.numel() / 2), k_threads = u32(k.numel() / 2);
  const Params params{.count = q_threads + 2 * k_threads,
                      .q_threads = q_threads,
                      .k_threads = k_threads,
                      .half = turn.half(),
                      .q_heads = q.dim(-2),
                      .kv_heads = k.dim(-2),
                      .positions = q.dim(-3),
                      .dim = q.dim(-1),
                      .first = turn.first,
                      .table_width = turn.width(),
                      .start = turn.start,
                      .capacity = k_cache.dim(-3)};
  return op.dispatch({kernels::rotary_cache, spec},
                     {q, k, turn.v, turn.cosines, turn.sines, turn.rotated, k_cache, v_cache}, params,
                     one_thread_per(params.count, 64));
}

static constexpr OpEntry entries[] = {
    {"pteron.attend_rotated", attend_rotated,
     "q, k, v, cosines, sines, table_start: int, table_end: int?, cache k_cache, cache v_cache, start: int, "
     "interleaved: flag, mask?, dropout: number = 0, causal: flag?, scale: number? -> [out, ...]"_sig,
     internal},
};
extern const OpList attention_rotated_ops = entries;

}  // namespace pteron::ops
