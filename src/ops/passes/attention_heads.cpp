// SPDX-License-Identifier: BSD-3-Clause
// Linears give [batch, position, head, dim], attention takes [batch, head, position, dim]. Its kernels go by strides,
// so the permutations in between, before it and behind it, are not needed.
#include "ops/passes/passes.h"

#include <algorithm>

namespace pteron::ops {
namespace {

constexpr std::array<i64, 4> swapped{0, 2, 1, 3};

bool are_swapped(const Rewriter& e, ValueId axes) {
  const auto is = [](i64 axis, i64 wanted) { return axis == wanted || axis == wanted - 4; };
  if (const auto* list = std::get_if<std::vector<i64>>(&e.graph().values[axes]))
    return std::ranges::equal(*list, swapped, is);
  return std::ranges::equal(e.list(axes), swapped, is, [&](ValueId id) { return e.integer(id).value_or(-9); });
}

// Does an op swap heads and positions of a tensor with one axis before them?
bool swaps_heads(const Rewriter& e, std::optional<u32> index) {
  const Op* op = e.find(index, "aten.permute_copy.default");
  if (!op) op = e.find(index, "aten.permute.default");
  if (!op || !are_swapped(e, op->arg("axes"))) return false;
  const Tensor &from = *e.tensor(op->arg("x")), &to = *e.tensor(op->arg("out"));
  return from.dtype == to.dtype && from.max.rank() == 4 &&
         to.max == Shape{from.max[0], from.max[2], from.max[1], from.max[3]};
}

// An attention op in the words of the fused one.
struct Found {
  std::array<ValueId, 3> operands;          // q, k, v
  ValueId mask, dropout, causal, scale, y;  // no_value: not there
  bool quiet;
};
std::optional<Found> attention_at(const Rewriter& e, u32 index) {
  const Op* torchs = e.find(index, "aten.scaled_dot_product_attention.default");
  const Op* op = torchs ? torchs : e.find(index, "et_vk.sdpa.default");
  if (!op) return std::nullopt;
  const std::array operands{op->arg("q"), op->arg("k"), op->arg("v")};
  return Found{operands,         op->arg("mask"), op->arg("dropout"), op->arg("causal"),
               op->arg("scale"), op->arg("out"),  torchs != nullptr};
}

bool fuse_at(Rewriter& e, u32 index, Found found, bool with_result) {
  std::vector<u32> absorbed{index}, repeated;
  i64 layout = 0;
  for (u32 i = 0; i < found.operands.size(); ++i) {
    const auto producer = e.producer(found.operands[i]);
    if (!swaps_heads(e, producer)) continue;
    found.operands[i] = e.op(*producer).arg("x");
    if (std::ranges::find(repeated, *producer) == repeated.end()) repeated.push_back(*producer);
    layout |= i64(1) << i;
  }
  if (with_result) {
    const std::vector<u32> readers = e.readers(found.y);
    if (e.uses(found.y) != 1 || readers.size() != 1 || !swaps_heads(e, readers[0])) return false;
    found.y = e.op(readers[0]).arg("out");
    absorbed.push_back(readers[0]);
    layout |= 8;
  }
  if (layout == 0) return false;
  const auto [q, k, v] = found.operands;
  const auto or_null = [&](ValueId id) { return id == no_value ? e.add({}) : id; };
  Op fused = e.make("pteron.attend_heads",
                    {q, k, v, found.mask, or_null(found.dropout), or_null(found.causal), found.scale, e.add({}),
                     e.add(found.quiet), e.add(layout), found.y},
                    e.op(index));
  return e.fuse(index, std::move(fused), absorbed, repeated);
}

void run(Rewriter& e, const gpu::DeviceInfo&) {
  for (u32 i = 0; i < e.size(); ++i)
    if (const auto found = attention_at(e, i); found && !fuse_at(e, i, *found, true)) fuse_at(e, i, *found, false);
}

}  // namespace

const Pass attention_heads_pass{"attention-heads",
                                "attention reads and writes heads where they lie, without permutations", run};

}  // namespace pteron::ops
