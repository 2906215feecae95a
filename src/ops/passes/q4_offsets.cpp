// SPDX-License-Identifier: BSD-3-Clause
// Weights that are more than symmetric 4 bits, as converters write them with standard ops: two planes whose products
// are added up, and an offset per group, which is a small linear over the group sums of x.
#include "ops/passes/q4_node.h"

namespace pteron::ops {
namespace {

// a + b, where b is another plane of the same weight.
bool add_plane(const Rewriter& e, Q4Node& a, const Q4Node& b) {
  const auto single = [](const Q4Node& n) { return n.is_plain() && n.weights.size() == 1; };
  const bool alike = single(a) && single(b) && a.x == b.x && a.norm == b.norm && a.group == b.group &&
                     e.tensor(a.weights[0])->max == e.tensor(b.weights[0])->max;
  if (!alike || !b.biases.empty() || !b.corrections.empty()) return false;
  a.kind = "planes";
  a.weights.push_back(b.weights[0]);
  a.scales.push_back(b.scales[0]);
  return true;
}

// The ops that make `value`, if it is Σ_{k∈g} x_k for each group g of x's last axis.
std::vector<u32> group_sum(const Rewriter& e, ValueId value, const Q4Node& node) {
  auto [from, ops] = e.source(value);
  const auto index = e.producer(from);
  const Op* sum = e.find(index, "aten.sum.dim_IntList");
  if (!sum) return {};
  const ValueId x = sum->arg("x");
  const auto* axes = std::get_if<std::vector<i64>>(&e.graph().values[sum->arg("axes")]);
  const Shape& shape = e.tensor(x)->max;
  const bool last_axis = axes && axes->size() == 1 && ((*axes)[0] == -1 || (*axes)[0] == i64(shape.rank()) - 1);
  if (!last_axis || shape.rank() < 2 || i64(shape.dim(-1)) != node.group ||
      u64(shape.dim(-2)) * shape.dim(-1) != e.tensor(node.x)->max.dim(-1))
    return {};
  const auto [summed, views] = e.source(x);
  if (summed != e.source(node.x).value) return {};
  ops.push_back(*index);
  ops.insert(ops.end(), views.begin(), views.end());
  return ops;
}

// An addend, and the ops that the fused one replaces or repeats for it.
struct Addend {
  std::vector<u32> absorbed, repeated;
};

// node + aten.linear(group sums of x, offsets)
std::optional<Addend> add_offsets(const Rewriter& e, Q4Node& node, ValueId value) {
  auto [from, ops] = e.private_source(value);
  if (e.uses(from) != 1 || !node.corrections.empty() || node.residual != no_value || node.kind == "swiglu")
    return std::nullopt;
  const auto index = e.producer(from);
  const Op* linear = e.find(index, "aten.linear.default");
  if (!linear || !e.is_null(linear->arg("bias"))) return std::nullopt;
  const ValueId offsets = linear->arg("weight");
  const Shape& shape = e.tensor(offsets)->max;
  if (shape.rank() != 2 || shape.dim(0) != e.tensor(node.weights[0])->max.dim(0)) return std::nullopt;
  std::vector<u32> sum = group_sum(e, linear->arg("x"), node);
  if (sum.empty()) return std::nullopt;
  node.corrections = {offsets};
  ops.push_back(*index);
  return Addend{std::move(ops), std::move(sum)};
}

bool fuse_at(Rewriter& e, u32 at, ValueId linear_side, ValueId other, ValueId y, const gpu::DeviceInfo& device) {
  auto found = private_linear(e, linear_side);
  if (!found || !(e.tensor(found->node.outputs[0])->max == e.tensor(y)->max)) return false;
  std::optional<Addend> addend;
  if (const auto plane = private_linear(e, other); plane && plane->op != found->op) {
    if (add_plane(e, found->node, plane->node)) addend = Addend{plane->ops, {}};
  } else {
    addend = add_offsets(e, found->node, other);
  }
  if (!addend) return false;
  found->node.outputs = {y};
  std::vector<u32> ops = found->ops;
  ops.insert(ops.end(), addend->absorbed.begin(), addend->absorbed.end());
  ops.push_back(at);
  return found->node.fits(e, device) && e.fuse(at, found->node.to_op(e, e.op(found->op)), ops, addend->repeated);
}

void fuse(Rewriter& e, const gpu::DeviceInfo& device) {
  for (u32 i = 0; i < e.size(); ++i) {
    const auto add = plain_add(e, i);
    if (!add) continue;
    const auto [a, b] = add->sides;
    if (!fuse_at(e, i, a, b, add->y, device)) fuse_at(e, i, b, a, add->y, device);
  }
}

}  // namespace

const Pass offsets_pass{"linear-offsets", "weights of planes and offsets become one 4-bit linear", fuse};

}  // namespace pteron::ops
