// SPDX-License-Identifier: BSD-3-Clause
// Rotary embedding and the writes to the KV cache become one kernel; attention then only reads the cache.
#include "graph/passes/editor.h"
#include "graph/passes/passes.h"

namespace pteron::graph {
namespace {

struct Rotation {
  bool interleaved;
  ValueId cosines, sines;
  ValueId start, end;  // rows of the tables, or nothing
};

// Tables that are cut out of larger ones for this position: take the larger ones and the position.
void use_whole_tables(const Editor& e, Rotation& r) {
  const auto slice = [&](ValueId id) -> const Op* {
    const auto op = e.producer(id);
    if (!op) return nullptr;
    const Op& s = e.graph().ops[*op];
    const bool rows = s.name == "aten.slice_copy.Tensor" && s.args.size() == 6 && e.integer(s.args[1]) == 0 &&
                      e.integer(s.args[4]) == 1;
    const Tensor* table = rows ? e.tensor(e.source(s.args[0])) : nullptr;
    return table && table->constant && table->max == e.tensor(s.args[0])->max && table->max.rank() == 2 &&
                   !e.is_null(s.args[2])
               ? &s
               : nullptr;
  };
  const Op *c = slice(r.cosines), *s = slice(r.sines);
  if (!c || !s || c->args[2] != s->args[2] || c->args[3] != s->args[3]) return;
  r.start = c->args[2];
  r.end = c->args[3];
  r.cosines = e.source(c->args[0]);
  r.sines = e.source(s->args[0]);
}

std::optional<Rotation> rotation_of(const Editor& e, u32 index) {
  const Op& op = e.graph().ops[index];
  if (op.name == "et_vk.apply_rotary_emb.default" && op.args.size() == 5) {
    Rotation r{true, op.args[2], op.args[3], no_value, no_value};
    use_whole_tables(e, r);
    return r;
  }
  if (op.name == "et_vk.apply_rotary_emb_hf.default" && op.args.size() == 6)
    return Rotation{false, op.args[2], op.args[3], op.args[4], no_value};
  return std::nullopt;
}

// The arguments of pteron.attend_rotated are those of src/ops/attention.cpp.
Status fuse(Graph& graph, const gpu::DeviceInfo&) {
  Editor e(graph);
  for (u32 i = 0; i < e.ops().size(); ++i) {
    const Op sdpa = e.ops()[i];
    if (sdpa.name != "sdpa_with_kv_cache.default" || sdpa.args.size() != 12) continue;
    const ValueId q = sdpa.args[0], k = sdpa.args[1];
    const auto rotary = e.producer(q);
    if (!rotary || e.producer(k) != rotary || e.uses(q) != 1 || e.uses(k) != 1) continue;
    const auto r = rotation_of(e, *rotary);
    if (!r) continue;
    const Op& rotation = e.ops()[*rotary];
    const auto rotated = e.list(rotation.args.back());
    if (rotated.size() != 2 || rotated[0] != q || rotated[1] != k) continue;
    const bool later = e.is_stable(rotation.args[0]) && e.is_stable(rotation.args[1]);
    if (!later || e.tensor(q)->max.rank() == 0 || e.tensor(q)->max.dim(-1) % 2 != 0 || sdpa.args[3] == sdpa.args[4])
      continue;
    const ValueId start = r->start == no_value ? e.add(i64(0)) : r->start;
    const ValueId end = r->end == no_value ? e.add({}) : r->end;
    std::vector<ValueId> args{
        rotation.args[0], rotation.args[1], sdpa.args[2], r->cosines,           r->sines, start, end,
        sdpa.args[3],     sdpa.args[4],     sdpa.args[5], e.add(r->interleaved)};
    args.insert(args.end(), sdpa.args.begin() + 7, sdpa.args.end());  // mask, dropout, is_causal, scale, out
    e.remove(*rotary);
    e.replace(i, e.make("pteron.attend_rotated", std::move(args), sdpa));
  }
  e.commit();
  remove_dead_ops(e);
  return {};
}

}  // namespace

const Pass rotary_cache_pass{"rotary-cache", "rotary embedding and the writes to the KV cache become one kernel", fuse};

}  // namespace pteron::graph
