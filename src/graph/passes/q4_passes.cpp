// SPDX-License-Identifier: BSD-3-Clause
// Fusions around 4-bit linears.
#include "graph/passes/passes.h"
#include "graph/passes/q4_node.h"

#include <algorithm>

namespace pteron::graph {
namespace {

bool same_numel(const Editor& e, ValueId a, ValueId b) { return e.tensor(a)->max.numel() == e.tensor(b)->max.numel(); }

u32 columns(const Editor& e, ValueId weight) { return e.tensor(weight)->max.dim(0); }

// add(x, linear): the linear adds x itself.
Status fuse_residual(Graph& graph, const gpu::DeviceInfo& device) {
  Editor e(graph);
  for (u32 i = 0; i < e.ops().size(); ++i) {
    const std::optional<Op> add = plain_add(e, i);
    if (!add) continue;
    const Op& op = *add;
    const ValueId y = op.args[3];
    for (u32 side = 0; side < 2; ++side) {
      const ValueId linear_side = op.args[side], other = op.args[1 - side];
      if (!e.tensor(linear_side) || !e.tensor(other) || linear_side == other || other == y) continue;
      if (!(e.tensor(other)->max == e.tensor(y)->max) || !same_numel(e, linear_side, y) ||
          e.tensor(other)->max.rank() == 0)
        continue;
      auto found = private_linear(e, linear_side);
      if (!found || found->node.residual != no_value || found->node.kind == "swiglu") continue;
      found->node.residual = other;
      found->node.outputs = {y};
      if (!found->node.fits(e, device)) continue;
      e.replace(i, found->node.to_op(e, e.ops()[found->op]));
      e.remove(found->op);
      break;
    }
  }
  e.commit();
  remove_dead_ops(e);
  return {};
}

// mul(mul(g, sigmoid(g)), u) in any order, where g and u are linears of the same x.
Status fuse_swiglu(Graph& graph, const gpu::DeviceInfo& device) {
  Editor e(graph);
  for (u32 i = 0; i < e.ops().size(); ++i) {
    const Op* outer = e.tensor_op(i, "aten.mul.Tensor", 3);
    if (!outer) continue;
    const Op op = *outer;
    for (u32 side = 0; side < 2; ++side) {
      const ValueId silu = e.private_source(op.args[side]), up_side = op.args[1 - side];
      const Op* inner = e.uses(silu) == 1 ? e.tensor_op(e.producer(silu), "aten.mul.Tensor", 3) : nullptr;
      if (!inner || !e.tensor(up_side)) continue;
      // One factor is g, the other sigmoid(g).
      ValueId gate = no_value;
      for (u32 s = 0; s < 2; ++s) {
        const ValueId factor = inner->args[s], g = inner->args[1 - s];
        const Op* sigmoid = e.uses(factor) == 1 ? e.tensor_op(e.producer(factor), "aten.sigmoid.default", 2) : nullptr;
        if (sigmoid && sigmoid->args[0] == g) gate = g;
      }
      if (gate == no_value || e.uses(gate) != 2) continue;
      // g has two readers, so look at the linear behind its private views by hand.
      const auto gate_view = e.producer(gate);
      const ValueId gate_out =
          gate_view && e.is_copy(*gate_view) ? e.private_source(e.ops()[*gate_view].args[0]) : gate;
      if (gate_out != gate && e.uses(gate_out) != 1) continue;
      const auto gate_op = e.producer(gate_out);
      auto gate_node = gate_op ? Q4Node::from(e, e.ops()[*gate_op]) : std::nullopt;
      auto up = private_linear(e, up_side);
      if (!gate_node || !up || *gate_op == up->op) continue;
      const Q4Node &a = *gate_node, &b = up->node;
      const bool alike = a.is_plain() && b.is_plain() && a.outputs.size() == 1 && a.x == b.x && a.norm == b.norm &&
                         a.group == b.group && a.biases.size() == b.biases.size() &&
                         a.corrections.size() == b.corrections.size() &&
                         columns(e, a.weights[0]) == columns(e, b.weights[0]);
      if (!alike || !(e.tensor(gate_out)->max == e.tensor(op.args[2])->max)) continue;
      Q4Node fused = a;
      fused.kind = "swiglu";
      for (auto list : {&Q4Node::weights, &Q4Node::scales, &Q4Node::biases, &Q4Node::corrections})
        (fused.*list).insert((fused.*list).end(), (b.*list).begin(), (b.*list).end());
      fused.outputs = {op.args[2]};
      if (!fused.fits(e, device)) continue;
      e.replace(i, fused.to_op(e, e.ops()[*gate_op]));
      e.remove(*gate_op);
      e.remove(up->op);
      break;
    }
  }
  e.commit();
  remove_dead_ops(e);
  return {};
}

// Linears of the same x become one dispatch, up to three at a time.
Status fuse_siblings(Graph& graph, const gpu::DeviceInfo& device) {
  Editor e(graph);
  for (u32 i = 0; i < e.ops().size(); ++i) {
    if (e.is_removed(i)) continue;
    auto first = Q4Node::from(e, e.ops()[i]);
    if (!first || !first->is_plain()) continue;
    const Tensor* x = e.tensor(first->x);
    if (!x) continue;
    Q4Node fused = *first;
    std::vector<u32> joined;
    for (u32 j : e.readers(first->x)) {
      if (j <= i || e.is_removed(j) || fused.outputs.size() == 3) continue;
      const auto other = Q4Node::from(e, e.ops()[j]);
      if (!other || !other->is_plain() || other->x != first->x || other->group != first->group ||
          other->norm != first->norm || other->outputs.size() != 1 || other->biases.size() != first->biases.size() ||
          other->corrections.size() != first->corrections.size())
        continue;
      for (auto list : {&Q4Node::weights, &Q4Node::scales, &Q4Node::biases, &Q4Node::corrections, &Q4Node::outputs})
        (fused.*list).insert((fused.*list).end(), ((*other).*list).begin(), ((*other).*list).end());
      joined.push_back(j);
    }
    if (joined.empty() || !fused.fits(e, device)) continue;
    for (u32 j : joined) e.remove(j);
    e.replace(i, fused.to_op(e, e.ops()[i]));
  }
  e.commit();
  return {};
}

// rms_norm whose only reader is a linear: the linear normalises.
Status fuse_norm(Graph& graph, const gpu::DeviceInfo& device) {
  Editor e(graph);
  for (u32 i = 0; i < e.ops().size(); ++i) {
    auto node = Q4Node::from(e, e.ops()[i]);
    if (!node || node->norm != no_value || e.uses(node->x) != 1) continue;
    const auto norm = e.producer(node->x);
    const Op* op = e.tensor_op(norm, "et_vk.rms_norm.default", 4);
    if (!op) continue;
    const Op rms = *op;
    const Tensor *weight = e.tensor(rms.args[1]), *x = e.tensor(rms.args[0]);
    const auto eps = e.number(rms.args[2]);
    if (!weight || !weight->constant || weight->dtype != DType::f32 || !x || x->dtype != DType::f32 || !eps) continue;
    node->norm = rms.args[1];
    node->eps = *eps;
    node->x = rms.args[0];
    if (!node->fits(e, device)) continue;
    e.replace(i, node->to_op(e, e.ops()[i]));
    e.remove(*norm);
  }
  e.commit();
  return {};
}

}  // namespace

const Pass swiglu_pass{"swiglu", "gate and up projections and their SwiGLU become one kernel", fuse_swiglu};
const Pass residual_pass{"linear-residual", "a 4-bit linear adds the residual itself", fuse_residual};
const Pass siblings_pass{"linear-siblings", "4-bit linears of the same input (Q, K and V) become one dispatch",
                         fuse_siblings};
const Pass norm_pass{"norm-linear", "a 4-bit linear normalises its input itself when it decodes one token", fuse_norm};

}  // namespace pteron::graph
