// SPDX-License-Identifier: BSD-3-Clause
// Weights that are more than symmetric 4 bits, as converters write them with standard ops: two planes whose products
// are added up, and an offset per group, which is a small linear over the group sums of x.
#include "graph/passes/passes.h"
#include "graph/passes/q4_node.h"

namespace pteron::graph {
namespace {

// a + b, where b is another plane of the same weight.
bool add_plane(const Editor& e, Q4Node& a, const Q4Node& b) {
  const auto single = [](const Q4Node& n) { return n.is_plain() && n.weights.size() == 1; };
  const bool alike = single(a) && single(b) && a.x == b.x && a.norm == b.norm && a.group == b.group &&
                     e.tensor(a.weights[0])->max == e.tensor(b.weights[0])->max;
  if (!alike || !b.biases.empty() || !b.corrections.empty()) return false;
  a.kind = "planes";
  a.weights.push_back(b.weights[0]);
  a.scales.push_back(b.scales[0]);
  return true;
}

// Is `value` Σ_{k∈g} x_k for each group g of x's last axis?
bool is_group_sum(const Editor& e, ValueId value, const Q4Node& node) {
  const Op* sum = e.tensor_op(e.producer(e.source(value)), "aten.sum.dim_IntList", 5);
  if (!sum) return false;
  const auto* axes = std::get_if<std::vector<i64>>(&e.graph().values[sum->args[1]]);
  const Shape& shape = e.tensor(sum->args[0])->max;
  const bool last_axis = axes && axes->size() == 1 && ((*axes)[0] == -1 || (*axes)[0] == i64(shape.rank()) - 1);
  return last_axis && shape.rank() >= 2 && i64(shape.dim(-1)) == node.group &&
         u64(shape.dim(-2)) * shape.dim(-1) == e.tensor(node.x)->max.dim(-1) &&
         e.source(sum->args[0]) == e.source(node.x);
}

// node + aten.linear(group sums of x, offsets)
bool add_offsets(const Editor& e, Q4Node& node, ValueId value) {
  const ValueId from = e.private_source(value);
  if (e.uses(from) != 1 || !node.corrections.empty() || node.residual != no_value || node.outputs.size() != 1 ||
      node.kind == "swiglu")
    return false;
  const Op* linear = e.tensor_op(e.producer(from), "aten.linear.default", 4);
  if (!linear || !e.is_null(linear->args[2]) || !e.tensor(linear->args[1])) return false;
  const Shape& offsets = e.tensor(linear->args[1])->max;
  const u32 rows = e.tensor(node.weights[0])->max.dim(0);
  if (offsets.rank() != 2 || offsets.dim(0) != rows || !is_group_sum(e, linear->args[0], node)) return false;
  node.corrections = {linear->args[1]};
  return true;
}

Status fuse(Graph& graph, const gpu::DeviceInfo& device) {
  Editor e(graph);
  for (u32 i = 0; i < e.ops().size(); ++i) {
    const std::optional<Op> add = plain_add(e, i);
    if (!add) continue;
    const Op& op = *add;
    for (u32 side = 0; side < 2; ++side) {
      auto found = private_linear(e, op.args[side]);
      if (!found || !(e.tensor(found->node.outputs[0])->max == e.tensor(op.args[3])->max)) continue;
      const auto plane = private_linear(e, op.args[1 - side]);
      const bool matches = plane && plane->op != found->op ? add_plane(e, found->node, plane->node)
                                                           : add_offsets(e, found->node, op.args[1 - side]);
      found->node.outputs = {op.args[3]};
      if (!matches || !found->node.fits(e, device)) continue;
      e.replace(i, found->node.to_op(e, e.ops()[found->op]));
      e.remove(found->op);
      if (plane) e.remove(plane->op);
      break;
    }
  }
  e.commit();
  remove_dead_ops(e);
  return {};
}

}  // namespace

const Pass offsets_pass{"linear-offsets", "weights of planes and offsets become one 4-bit linear", fuse};

}  // namespace pteron::graph
