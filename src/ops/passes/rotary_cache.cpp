// SPDX-License-Identifier: BSD-3-Clause
// Rotary embedding and the writes to the KV cache become one kernel; attention then only reads the cache.
#include "ops/passes/passes.h"

#include <algorithm>

namespace pteron::ops {
namespace {

struct Rotation {
  bool interleaved;
  ValueId cosines, sines;
  ValueId start, end;         // rows of the tables, or nothing
  std::vector<u32> cut = {};  // ops that cut the tables out of larger ones
};

// A table that is cut out of a larger, constant one for this position.
struct Cut {
  ValueId table, start, end;
  std::vector<u32> ops;
};
std::optional<Cut> cut_of(const Rewriter& e, ValueId id) {
  const auto index = e.producer(id);
  const Op* slice = e.find(index, "aten.slice_copy.Tensor");
  if (!slice || e.integer(slice->arg("axis")) != 0 || e.integer(slice->arg("step")) != 1 ||
      e.is_null(slice->arg("start")))
    return std::nullopt;
  auto [table, ops] = e.source(slice->arg("x"));
  const Tensor& whole = *e.tensor(table);
  if (!whole.constant || !(whole.max == e.tensor(slice->arg("x"))->max) || whole.max.rank() != 2) return std::nullopt;
  ops.push_back(*index);
  return Cut{table, slice->arg("start"), slice->arg("end"), std::move(ops)};
}

// Takes the larger tables and the position.
void use_whole_tables(const Rewriter& e, Rotation& r) {
  const auto c = cut_of(e, r.cosines), s = cut_of(e, r.sines);
  if (!c || !s || c->start != s->start || c->end != s->end) return;
  r = {r.interleaved, c->table, s->table, c->start, c->end, c->ops};
  for (u32 op : s->ops)
    if (std::ranges::find(r.cut, op) == r.cut.end()) r.cut.push_back(op);
}

std::optional<Rotation> rotation_of(const Rewriter& e, u32 index) {
  if (const Op* op = e.find(index, "et_vk.apply_rotary_emb.default")) {
    Rotation r{true, op->arg("cosines"), op->arg("sines"), no_value, no_value};
    use_whole_tables(e, r);
    return r;
  }
  if (const Op* op = e.find(index, "et_vk.apply_rotary_emb_hf.default"))
    return Rotation{false, op->arg("cosines"), op->arg("sines"), op->arg("start"), no_value};
  return std::nullopt;
}

// The fused kernel takes a row of the tables for each position, which is axis 1.
bool has_rows_of_positions(const Rewriter& e, const Rotation& r, ValueId q) {
  const Shape &tables = e.tensor(r.cosines)->max, &x = e.tensor(q)->max;
  return tables.rank() == 2 && x.rank() == 4 && (tables[0] > 1 || x[1] == 1);
}

void fuse(Rewriter& e, const gpu::DeviceInfo&) {
  for (u32 i = 0; i < e.size(); ++i) {
    const Op* sdpa = e.find(i, "sdpa_with_kv_cache.default");
    if (!sdpa) continue;
    const ValueId q = sdpa->arg("q"), k = sdpa->arg("k"), k_cache = sdpa->arg("k_cache"),
                  v_cache = sdpa->arg("v_cache");
    const auto rotary = e.producer(q);
    if (!rotary || e.producer(k) != rotary || e.uses(q) != 1 || e.uses(k) != 1) continue;
    const auto r = rotation_of(e, *rotary);
    if (!r || !has_rows_of_positions(e, *r, q)) continue;
    const Op& rotation = e.op(*rotary);
    const auto rotated = e.list(rotation.args.back());
    if (rotated[0] != q || rotated[1] != k || e.tensor(q)->max.dim(-1) % 2 != 0 || k_cache == v_cache) continue;
    const ValueId xq = rotation.arg("xq"), xk = rotation.arg("xk"), v = sdpa->arg("v"), position = sdpa->arg("start"),
                  mask = sdpa->arg("mask"), dropout = sdpa->arg("dropout"), causal = sdpa->arg("causal"),
                  scale = sdpa->arg("scale"), y = sdpa->arg("out");
    const ValueId start = r->start == no_value ? e.add(i64(0)) : r->start,
                  end = r->end == no_value ? e.add({}) : r->end;
    Op fused = e.make("pteron.attend_rotated",
                      {xq, xk, v, r->cosines, r->sines, start, end, k_cache, v_cache, position, e.add(r->interleaved),
                       mask, dropout, causal, scale, e.add(graph::ValueList{{y}})},
                      e.op(i));
    e.fuse(i, std::move(fused), std::array{*rotary, i}, r->cut);
  }
}

}  // namespace

const Pass rotary_cache_pass{"rotary-cache", "rotary embedding and the writes to the KV cache become one kernel", fuse};

}  // namespace pteron::ops
