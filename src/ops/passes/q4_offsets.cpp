// SPDX-License-Identifier: BSD-3-Clause
// Weights that are more than symmetric 4 bits, as converters write them with standard ops: another plane, which counts
// 16-fold and has the same scales; and what is added for the sums of x over groups: a multiple of their products with
// the scales, and products with minima.
#include "ops/passes/q4_node.h"

namespace pteron::ops {
namespace {

// What an addition brings: the ops that the fused one replaces, and those that it repeats.
struct Addend {
  std::vector<u32> absorbed, repeated;
};

// node + 16 · another plane of the same weight
std::optional<Addend> add_plane(const Rewriter& e, Q4Node& low, u32 low_op, ValueId value) {
  const auto high = private_linear(e, value);
  const auto single = [](const Q4Node& n) { return n.is_plain() && n.weights.size() == 1 && n.shift == 0; };
  if (!high || high->op == low_op || !single(low) || !single(high->node)) return std::nullopt;
  const Q4Node& other = high->node;
  const bool alike = low.x == other.x && low.norm == other.norm && low.group == other.group &&
                     low.scales == other.scales && e.tensor(low.weights[0])->max == e.tensor(other.weights[0])->max;
  if (!alike || !other.biases.empty() || !low.minima.empty() || !other.minima.empty()) return std::nullopt;
  low.kind = "planes";
  low.weights = {other.weights[0], low.weights[0]};
  return Addend{high->ops, {}};
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

// A product of the group sums of x, of which only the addition reads the result.
struct GroupProduct {
  ValueId factor;
  Addend ops;
};
std::optional<GroupProduct> group_product(const Rewriter& e, const Q4Node& node, ValueId value, std::string_view name,
                                          std::string_view sums, std::string_view factor) {
  auto [from, ops] = e.private_source(value);
  auto index = e.producer(from);
  // Scales may have more columns than the weight.
  if (const Op* slice = e.uses(from) == 1 ? e.find(index, "aten.slice_copy.Tensor") : nullptr) {
    const ValueId wide = slice->arg("x");
    const auto axis = e.integer(slice->arg("axis"));
    const bool first_columns = axis && (*axis == -1 || *axis == i64(e.tensor(wide)->max.rank()) - 1) &&
                               e.integer(slice->arg("start")) == 0 && e.integer(slice->arg("end")) &&
                               e.integer(slice->arg("step")) == 1;
    if (!first_columns) return std::nullopt;
    ops.push_back(*index);
    from = wide;
    index = e.producer(from);
  }
  const Op* product = e.uses(from) == 1 ? e.find(index, name) : nullptr;
  if (!product) return std::nullopt;
  std::vector<u32> sum = group_sum(e, product->arg(sums), node);
  if (sum.empty()) return std::nullopt;
  ops.push_back(*index);
  return GroupProduct{product->arg(factor), {std::move(ops), std::move(sum)}};
}

bool takes_offsets(const Q4Node& node) {
  return node.residual == no_value && node.kind != "swiglu" && node.scales.size() == 1 && node.minima.empty();
}

// node + times · mm(group sums of x, scales)
std::optional<Addend> add_shift(const Rewriter& e, Q4Node& node, ValueId value, f64 times) {
  const auto shift = shifted(node.shift, times);
  auto product =
      takes_offsets(node) && shift ? group_product(e, node, value, "aten.mm.default", "a", "b") : std::nullopt;
  if (!product || product->factor != node.scales[0]) return std::nullopt;
  node.shift = *shift;
  return std::move(product->ops);
}

// node + linear(group sums of x, minima)
std::optional<Addend> add_minima(const Rewriter& e, Q4Node& node, ValueId value) {
  auto product =
      takes_offsets(node) ? group_product(e, node, value, "aten.linear.default", "x", "weight") : std::nullopt;
  if (!product) return std::nullopt;
  const Op& linear = e.op(product->ops.absorbed.back());
  const Shape& shape = e.tensor(product->factor)->max;
  if (!e.is_null(linear.arg("bias")) || shape.rank() != 2 || shape.dim(0) != e.tensor(node.weights[0])->max.dim(0))
    return std::nullopt;
  node.minima = {product->factor};
  return std::move(product->ops);
}

bool fuse_at(Rewriter& e, u32 at, const ScaledAdd& add, const gpu::DeviceInfo& device) {
  auto found = private_linear(e, add.a);
  const Shape& result = e.tensor(add.y)->max;
  if (!found || !(e.tensor(found->node.outputs[0])->max == result)) return false;
  if (e.tensor(add.b)->max.numel() != result.numel()) return false;  // a column or a row for all of them
  std::optional<Addend> addend;
  if (add.times == high_plane) addend = add_plane(e, found->node, found->op, add.b);
  if (!addend) addend = add_shift(e, found->node, add.b, add.times);
  if (!addend && add.times == 1) addend = add_minima(e, found->node, add.b);
  if (!addend) return false;
  found->node.outputs = {add.y};
  std::vector<u32> ops = found->ops;
  ops.insert(ops.end(), addend->absorbed.begin(), addend->absorbed.end());
  ops.push_back(at);
  return found->node.fits(e, device) && e.fuse(at, found->node.to_op(e, e.op(found->op)), ops, addend->repeated);
}

void fuse(Rewriter& e, const gpu::DeviceInfo& device) {
  for (u32 i = 0; i < e.size(); ++i) {
    const auto add = scaled_add(e, i);
    if (!add || fuse_at(e, i, *add, device)) continue;
    if (add->times == 1) fuse_at(e, i, {add->b, add->a, add->y, 1}, device);
  }
}

}  // namespace

const Pass offsets_pass{"linear-offsets", "weights of planes, shifts and minima become one 4-bit linear", fuse};

}  // namespace pteron::ops
