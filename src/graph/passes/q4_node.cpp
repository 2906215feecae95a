// SPDX-License-Identifier: BSD-3-Clause
#include "graph/passes/q4_node.h"

#include <algorithm>

namespace pteron::graph {
namespace {

constexpr std::string_view fused_name = "pteron.linear_q4";

std::vector<ValueId> items(const Editor& editor, ValueId id) {
  const auto list = editor.list(id);
  return {list.begin(), list.end()};
}

}  // namespace

std::optional<Q4Node> Q4Node::from(const Editor& editor, const Op& op) {
  Q4Node out;
  if (op.name == "et_vk.linear_q4gsw.default" && op.args.size() == 6) {
    const auto group = editor.integer(op.args[3]);
    const bool tensors = editor.tensor(op.args[0]) && editor.tensor(op.args[1]) && editor.tensor(op.args[2]) &&
                         editor.tensor(op.args[5]);
    if (!group || !tensors) return std::nullopt;
    out.x = op.args[0];
    out.group = *group;
    out.weights = {op.args[1]};
    out.scales = {op.args[2]};
    if (!editor.is_null(op.args[4])) out.biases = {op.args[4]};
    out.outputs = {op.args[5]};
    return out;
  }
  if (op.name != fused_name) return std::nullopt;
  out.x = op.args[0];
  if (!editor.is_null(op.args[1])) out.norm = op.args[1];
  out.eps = editor.number(op.args[2]).value_or(0);
  out.weights = items(editor, op.args[3]);
  out.scales = items(editor, op.args[4]);
  out.group = editor.integer(op.args[5]).value_or(0);
  out.biases = items(editor, op.args[6]);
  out.corrections = items(editor, op.args[7]);
  if (!editor.is_null(op.args[8])) out.residual = op.args[8];
  out.kind = std::get<std::string>(editor.graph().values[op.args[9]]);
  out.outputs = items(editor, op.args[10]);
  return out;
}

bool Q4Node::fits(const Editor& editor, const gpu::DeviceInfo& device) const {
  // Fusing moves the linear to a later place.
  if (!editor.is_stable(x) || (residual != no_value && !editor.is_stable(residual))) return false;
  const u64 depth = editor.tensor(x)->max.dim(-1);
  if (depth == 0 || depth % 8 != 0 || group <= 0 || group % 8 != 0) return false;
  const auto constant = [&](ValueId id, DType dtype) {
    const Tensor* tensor = editor.tensor(id);
    return tensor && tensor->constant && tensor->dtype == dtype;
  };
  const auto all = [&](const std::vector<ValueId>& ids, DType dtype) {
    return std::all_of(ids.begin(), ids.end(), [&](ValueId id) { return constant(id, dtype); });
  };
  if (!all(weights, DType::u8) || !all(scales, DType::f32) || !all(biases, DType::f32) || !all(corrections, DType::f32))
    return false;
  u64 bytes = 0;
  for (ValueId weight : weights) bytes += (u64(editor.tensor(weight)->max.dim(0)) + 63) / 64 * 64 * depth / 2;
  return bytes <= device.limits.max_storage_binding_bytes;
}

Op Q4Node::to_op(Editor& editor, const Op& place) const {
  const auto list_or_null = [&](const std::vector<ValueId>& ids) {
    return editor.add(ids.empty() ? Value() : Value(ValueList{ids}));
  };
  const auto value_or_null = [&](ValueId id) { return id == no_value ? editor.add({}) : id; };
  return editor.make(fused_name,
                     {x, value_or_null(norm), editor.add(eps), editor.add(ValueList{weights}),
                      editor.add(ValueList{scales}), editor.add(group), list_or_null(biases), list_or_null(corrections),
                      value_or_null(residual), editor.add(kind), editor.add(ValueList{outputs})},
                     place);
}

std::optional<Op> plain_add(const Editor& e, u32 op) {
  const Op* add = e.tensor_op(op, "aten.add.Tensor", 4);
  if (!add || (!e.is_null(add->args[2]) && e.number(add->args[2]) != 1.0)) return std::nullopt;
  return *add;
}

std::optional<PrivateLinear> private_linear(const Editor& e, ValueId value) {
  const ValueId from = e.private_source(value);
  if (e.uses(from) != 1) return std::nullopt;
  const auto op = e.producer(from);
  if (!op || e.is_removed(*op)) return std::nullopt;
  auto node = Q4Node::from(e, e.graph().ops[*op]);
  if (!node || node->outputs.size() != 1) return std::nullopt;
  return PrivateLinear{*op, *std::move(node)};
}

}  // namespace pteron::graph
