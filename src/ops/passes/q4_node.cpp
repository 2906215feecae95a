// SPDX-License-Identifier: BSD-3-Clause
#include "ops/passes/q4_node.h"

#include <algorithm>

namespace pteron::ops {
namespace {

constexpr std::string_view plain_name = "et_vk.linear_q4gsw.default", fused_name = "pteron.linear_q4";

std::vector<ValueId> items(const Rewriter& e, ValueId id) {
  const auto list = e.list(id);
  return {list.begin(), list.end()};
}

// A graph that the op itself would refuse stays as it is, so that the op can.
bool is_sound(const Rewriter& e, const Q4Node& node) {
  const auto real = [&](ValueId id) { return is_float(e.tensor(id)->dtype); };
  return real(node.x) && e.tensor(node.x)->max.rank() >= 1 && std::ranges::all_of(node.outputs, real);
}

ValueId or_none(const Rewriter& e, ValueId id) { return e.is_null(id) ? no_value : id; }

}  // namespace

std::optional<Q4Node> Q4Node::from(const Rewriter& e, u32 index) {
  Q4Node out;
  if (const Op* op = e.find(index, plain_name)) {
    const auto group = e.integer(op->arg("group"));
    if (!group) return std::nullopt;
    out.x = op->arg("x");
    out.group = *group;
    out.weights = {op->arg("weight")};
    out.scales = {op->arg("scales")};
    if (const ValueId bias = or_none(e, op->arg("bias")); bias != no_value) out.biases = {bias};
    out.outputs = {op->arg("out")};
    return is_sound(e, out) ? std::optional(std::move(out)) : std::nullopt;
  }
  const Op* op = e.find(index, fused_name);
  if (!op) return std::nullopt;
  out.x = op->arg("x");
  out.norm = or_none(e, op->arg("norm"));
  out.eps = e.number(op->arg("eps")).value_or(0);
  out.weights = items(e, op->arg("weights"));
  out.scales = items(e, op->arg("scales"));
  out.group = e.integer(op->arg("group")).value_or(0);
  out.biases = items(e, op->arg("biases"));
  out.shift = e.integer(op->arg("shift")).value_or(0);
  out.minima = items(e, op->arg("minima"));
  out.residual = or_none(e, op->arg("residual"));
  out.kind = std::get<std::string>(e.graph().values[op->arg("kind")]);
  out.splits = or_none(e, op->arg("splits"));
  out.heads = e.integer(op->arg("heads")).value_or(0);
  out.outputs = items(e, op->args.back());
  return out;
}

void Q4Node::append_weights(const Q4Node& other) {
  for (auto list : {&Q4Node::weights, &Q4Node::scales, &Q4Node::biases, &Q4Node::minima})
    (this->*list).insert((this->*list).end(), (other.*list).begin(), (other.*list).end());
}

bool Q4Node::is_like(const Q4Node& other) const {
  return is_plain() && other.is_plain() && x == other.x && norm == other.norm && group == other.group &&
         shift == other.shift && biases.size() == other.biases.size() && minima.size() == other.minima.size();
}

bool Q4Node::fits(const Rewriter& e, const gpu::DeviceInfo& device) const {
  const u64 depth = e.tensor(x)->max.dim(-1);
  if (depth == 0 || depth % 8 != 0 || group <= 0 || group % 8 != 0) return false;
  const auto all = [&](const std::vector<ValueId>& ids, DType dtype) {
    return std::ranges::all_of(ids, [&](ValueId id) { return e.is_fixed(id) && e.tensor(id)->dtype == dtype; });
  };
  if (!all(weights, DType::u8) || !all(scales, DType::f32) || !all(biases, DType::f32) || !all(minima, DType::f32))
    return false;
  u64 bytes = 0;
  for (ValueId weight : weights) bytes += (u64(e.tensor(weight)->max.dim(0)) + 63) / 64 * 64 * depth / 2;
  return bytes <= device.limits.max_storage_binding_bytes;
}

Op Q4Node::to_op(Rewriter& e, const Op& place) const {
  const auto list_or_null = [&](const std::vector<ValueId>& ids) {
    return e.add(ids.empty() ? graph::Value() : graph::Value(graph::ValueList{ids}));
  };
  const auto value_or_null = [&](ValueId id) { return id == no_value ? e.add({}) : id; };
  return e.make(fused_name,
                {x, value_or_null(norm), e.add(eps), list_or_null(weights), list_or_null(scales), e.add(group),
                 e.add(shift), list_or_null(biases), list_or_null(minima), value_or_null(residual), e.add(kind),
                 value_or_null(splits), e.add(heads), list_or_null(outputs)},
                place);
}

std::optional<ScaledAdd> scaled_add(const Rewriter& e, u32 index) {
  const Op* op = e.find(index, "aten.add.Tensor");
  if (!op) return std::nullopt;
  const ValueId alpha = op->arg("alpha");
  const auto times = e.is_null(alpha) ? 1.0 : e.number(alpha);
  if (!times) return std::nullopt;
  return ScaledAdd{op->arg("a"), op->arg("b"), op->arg("out"), *times};
}

std::optional<PlainAdd> plain_add(const Rewriter& e, u32 index) {
  const auto add = scaled_add(e, index);
  if (!add || add->times != 1) return std::nullopt;
  return PlainAdd{{add->a, add->b}, add->y};
}

std::optional<i64> shifted(i64 shift, f64 times) {
  constexpr i64 most = 128;
  const auto whole = graph::exact_integer(times);
  if (!whole || *whole < 0 || shift + *whole > most) return std::nullopt;
  return shift + *whole;
}

std::optional<PrivateLinear> private_linear(const Rewriter& e, ValueId value) {
  auto [from, ops] = e.private_source(value);
  const auto op = e.uses(from) == 1 ? e.producer(from) : std::nullopt;
  auto node = op ? Q4Node::from(e, *op) : std::nullopt;
  if (!node || node->outputs.size() != 1) return std::nullopt;
  ops.push_back(*op);
  return PrivateLinear{*op, *std::move(node), std::move(ops)};
}

}  // namespace pteron::ops
