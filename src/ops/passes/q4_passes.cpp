// SPDX-License-Identifier: BSD-3-Clause
// Fusions around 4-bit linears.
#include "ops/passes/q4_node.h"

#include <algorithm>

namespace pteron::ops {
namespace {

bool same_numel(const Rewriter& e, ValueId a, ValueId b) {
  return e.tensor(a)->max.numel() == e.tensor(b)->max.numel();
}

u32 columns(const Rewriter& e, ValueId weight) { return e.tensor(weight)->max.dim(0); }

// add(x, linear): the linear adds x itself.
void fuse_residual(Rewriter& e, const gpu::DeviceInfo& device) {
  for (u32 i = 0; i < e.size(); ++i) {
    const auto add = plain_add(e, i);
    for (u32 side = 0; add && side < 2; ++side) {
      const ValueId linear_side = add->sides[side], other = add->sides[1 - side], y = add->y;
      if (linear_side == other || other == y || !same_numel(e, linear_side, y)) continue;
      if (!(e.tensor(other)->max == e.tensor(y)->max) || e.tensor(other)->max.rank() == 0) continue;
      auto found = private_linear(e, linear_side);
      if (!found || found->node.residual != no_value || found->node.kind == "swiglu") continue;
      found->node.residual = other;
      found->node.outputs = {y};
      found->ops.push_back(i);
      if (found->node.fits(e, device) && e.fuse(i, found->node.to_op(e, e.op(found->op)), found->ops)) break;
    }
  }
}

// silu(g) = g · sigmoid(g), in any order, of which only one op reads the result.
struct Silu {
  ValueId gate;
  std::vector<u32> ops;
};
std::optional<Silu> private_silu(const Rewriter& e, ValueId value) {
  auto [product, ops] = e.private_source(value);
  const auto mul = e.producer(product);
  const Op* inner = e.uses(product) == 1 ? e.find(mul, "aten.mul.Tensor") : nullptr;
  if (!inner) return std::nullopt;
  for (u32 side = 0; side < 2; ++side) {
    const ValueId factor = inner->args[side], gate = inner->args[1 - side];
    const auto producer = e.producer(factor);
    const Op* sigmoid = e.uses(factor) == 1 ? e.find(producer, "aten.sigmoid.default") : nullptr;
    if (!sigmoid || sigmoid->arg("a") != gate || e.uses(gate) != 2) continue;
    if (!is_float(e.tensor(factor)->dtype) || !is_float(e.tensor(product)->dtype)) continue;
    ops.push_back(*mul);
    ops.push_back(*producer);
    return Silu{gate, std::move(ops)};
  }
  return std::nullopt;
}

// The linear behind a gate, which has two readers, and its private views.
std::optional<PrivateLinear> gate_linear(const Rewriter& e, ValueId gate) {
  const auto producer = e.producer(gate);
  if (!producer) return std::nullopt;
  if (e.is_copy(*producer)) {
    auto found = private_linear(e, e.op(*producer).args.front());
    if (found) found->ops.push_back(*producer);
    return found;
  }
  auto node = Q4Node::from(e, *producer);
  if (!node || node->outputs.size() != 1) return std::nullopt;
  return PrivateLinear{*producer, *std::move(node), {*producer}};
}

// mul(mul(g, sigmoid(g)), u) in any order, where g and u are linears of the same x.
bool fuse_swiglu_at(Rewriter& e, u32 at, ValueId silu_side, ValueId up_side, ValueId y, const gpu::DeviceInfo& device) {
  const auto silu = private_silu(e, silu_side);
  const auto gate = silu ? gate_linear(e, silu->gate) : std::nullopt;
  const auto up = private_linear(e, up_side);
  if (!gate || !up || gate->op == up->op || !gate->node.is_like(up->node)) return false;
  if (columns(e, gate->node.weights[0]) != columns(e, up->node.weights[0]) ||
      !(e.tensor(gate->node.outputs[0])->max == e.tensor(y)->max))
    return false;
  Q4Node fused = gate->node;
  fused.kind = "swiglu";
  fused.append_weights(up->node);
  fused.outputs = {y};
  std::vector<u32> ops = gate->ops;
  ops.insert(ops.end(), up->ops.begin(), up->ops.end());
  ops.insert(ops.end(), silu->ops.begin(), silu->ops.end());
  ops.push_back(at);
  return fused.fits(e, device) && e.fuse(at, fused.to_op(e, e.op(gate->op)), ops);
}

void fuse_swiglu(Rewriter& e, const gpu::DeviceInfo& device) {
  for (u32 i = 0; i < e.size(); ++i) {
    const Op* mul = e.find(i, "aten.mul.Tensor");
    if (!mul) continue;
    const ValueId a = mul->arg("a"), b = mul->arg("b"), y = mul->arg("out");
    if (!fuse_swiglu_at(e, i, a, b, y, device)) fuse_swiglu_at(e, i, b, a, y, device);
  }
}

// Linears of the same x become one dispatch, up to three at a time.
void fuse_siblings(Rewriter& e, const gpu::DeviceInfo& device) {
  for (u32 i = 0; i < e.size(); ++i) {
    auto fused = Q4Node::from(e, i);
    if (!fused || !fused->is_plain()) continue;
    const Q4Node first = *fused;
    std::vector<u32> ops{i};
    for (u32 j : e.readers(first.x)) {
      if (j <= i || fused->outputs.size() == 3) continue;
      const auto other = Q4Node::from(e, j);
      if (!other || !first.is_like(*other) || other->outputs.size() != 1 || !e.can_move(j, i)) continue;
      fused->append_weights(*other);
      fused->outputs.push_back(other->outputs[0]);
      ops.push_back(j);
    }
    if (ops.size() > 1 && fused->fits(e, device)) e.fuse(i, fused->to_op(e, e.op(i)), ops);
  }
}

// rms_norm whose only reader is a linear: the linear normalises.
void fuse_norm(Rewriter& e, const gpu::DeviceInfo& device) {
  for (u32 i = 0; i < e.size(); ++i) {
    auto node = Q4Node::from(e, i);
    if (!node || node->norm != no_value || e.uses(node->x) != 1) continue;
    const auto norm = e.producer(node->x);
    const Op* rms = e.find(norm, "et_vk.rms_norm.default");
    if (!rms) continue;
    const ValueId x = rms->arg("x"), weight = rms->arg("weight");
    const auto eps = e.number(rms->arg("eps"));
    if (!e.tensor(weight)->constant || e.tensor(weight)->dtype != DType::f32 || e.tensor(x)->dtype != DType::f32 ||
        !eps)
      continue;
    node->norm = weight;
    node->eps = *eps;
    node->x = x;
    if (node->fits(e, device)) e.fuse(i, node->to_op(e, e.op(i)), std::array{*norm, i});
  }
}

}  // namespace

const Pass swiglu_pass{"swiglu", "gate and up projections and their SwiGLU become one kernel", fuse_swiglu};
const Pass residual_pass{"linear-residual", "a 4-bit linear adds the residual itself", fuse_residual};
const Pass siblings_pass{"linear-siblings", "4-bit linears of the same input (Q, K and V) become one dispatch",
                         fuse_siblings};
const Pass norm_pass{"norm-linear", "a 4-bit linear normalises its input itself when it decodes one token", fuse_norm};

}  // namespace pteron::ops
