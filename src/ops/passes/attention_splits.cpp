// SPDX-License-Identifier: BSD-3-Clause
// Attention that decodes walks keys in splits. A 4-bit linear behind it can put these together while it reads its
// input, which saves a dispatch. In a batch, where the linear has rows of several conversations, attention still does
// it.
#include "ops/attention.h"
#include "ops/passes/q4_node.h"

#include <algorithm>

namespace pteron::ops {
namespace {

// Does a number differ from step to step, because an input tells it? Else shapes would be known for good.
bool follows_an_input(const Rewriter& e, ValueId number) {
  if (!std::holds_alternative<graph::SymInt>(e.graph().values[number])) return false;
  if (e.graph().is_input(number)) return true;
  const auto producer = e.producer(number);
  if (!producer) return false;
  const auto uses = graph::uses_of(e.graph(), e.op(*producer));
  return std::ranges::any_of(uses, [](const graph::Use& use) { return use.role == graph::Role::host; });
}

void fuse_at(Rewriter& e, u32 at, const gpu::DeviceInfo& device) {
  auto node = Q4Node::from(e, at);
  if (!node || node->norm != no_value || node->splits != no_value || !node->fits(e, device)) return;
  const ValueId result = e.private_source(node->x).value;
  const auto maker = e.producer(result);
  const Op* attention = e.find(maker, "pteron.attend_rotated");
  if (!attention || !follows_an_input(e, attention->arg("start"))) return;
  const Shape &y = e.tensor(result)->max, &x = e.tensor(node->x)->max;
  const u32 heads = y.dim(-2), dim = y.dim(-1);
  if (x.dim(-1) != heads * dim || dim % 4 != 0) return;
  Shape room = x;
  for (u32 axis = 0; axis < room.rank(); ++axis) room[axis] = 1;
  room[room.rank() - 1] = handed_splits * split_row(heads, dim);
  const ValueId splits = e.add(Tensor{DType::f32, room, {}});
  Op hands_on = *attention;
  hands_on.args.back() = e.add(graph::ValueList{{result, splits}});
  node->splits = splits;
  node->heads = heads;
  e.hand_on(splits, *maker, std::move(hands_on), at, node->to_op(e, e.op(at)));
}

// Software adapters have routes that split otherwise.
void run(Rewriter& e, const gpu::DeviceInfo& device) {
  if (device.adapter.type == gpu::AdapterType::cpu) return;
  for (u32 i = 0; i < e.size(); ++i) fuse_at(e, i, device);
}

}  // namespace

const Pass attention_splits_pass{"attention-splits", "a 4-bit linear puts the splits of attention together itself",
                                 run};

}  // namespace pteron::ops
