// SPDX-License-Identifier: BSD-3-Clause
// Tables of more than symmetric 4 bits, as converters write them with standard ops: another plane, which counts 16-fold
// and has the same scales; a multiple of the scales; and minima. The last two are looked up too, one for each group.
#include "ops/passes/q4_node.h"

#include <algorithm>

namespace pteron::ops {
namespace {

constexpr std::string_view plain_name = "et_vk.embedding_q4gsw.default", fused_name = "pteron.embedding_q4";

struct Q4Table {
  std::vector<ValueId> weights;
  ValueId scales = no_value, minima = no_value, tokens = no_value, out = no_value;
  i64 group = 0, shift = 0;
  u32 op = 0;
  std::vector<u32> ops;  // it and the copies behind it

  bool fits(const Rewriter& e, const gpu::DeviceInfo& device) const {
    const auto fixed = [&](ValueId id, DType dtype) { return e.is_fixed(id) && e.tensor(id)->dtype == dtype; };
    const Shape& shape = e.tensor(weights[0])->max;
    if (shape.rank() != 2 || shape.dim(1) % 4 != 0 || shape.numel() == 0 || group <= 0) return false;
    const i64 columns = i64(shape.dim(1)) * 2;
    if (columns % group != 0) return false;
    const Shape wanted{shape.dim(0), u32(columns / group)};
    if (!std::ranges::all_of(weights, [&](ValueId w) { return fixed(w, DType::u8) && e.tensor(w)->max == shape; }))
      return false;
    const auto numbers = [&](ValueId id) { return fixed(id, DType::f32) && e.tensor(id)->max == wanted; };
    if (!numbers(scales) || (minima != no_value && !numbers(minima))) return false;
    const u64 rows = (u64(shape.dim(0)) + 63) / 64 * 64;
    return weights.size() * rows * shape.dim(1) <= device.limits.max_storage_binding_bytes;
  }
};

// The table whose only reader is (a chain of views that ends in) a value.
std::optional<Q4Table> private_table(const Rewriter& e, ValueId value) {
  auto [from, ops] = e.private_source(value);
  const auto index = e.uses(from) == 1 ? e.producer(from) : std::nullopt;
  if (!index) return std::nullopt;
  Q4Table out{.op = *index, .ops = std::move(ops)};
  out.ops.push_back(*index);
  const Op* op = e.find(index, plain_name);
  if (op) {
    const graph::Value& linear = e.graph().values[op->arg("is_linear")];
    if (!e.is_null(op->arg("is_linear")) && !(std::holds_alternative<bool>(linear) && std::get<bool>(linear)))
      return std::nullopt;
    out.weights = {op->arg("weight")};
  } else {
    op = e.find(index, fused_name);
    if (!op) return std::nullopt;
    const auto list = e.list(op->arg("weights"));
    out.weights = {list.begin(), list.end()};
    out.shift = e.integer(op->arg("shift")).value_or(0);
    if (const ValueId minima = op->arg("minima"); !e.is_null(minima)) out.minima = minima;
  }
  out.scales = op->arg("scales");
  out.tokens = op->arg("indices");
  out.out = op->arg("out");
  out.group = e.integer(op->arg("group")).value_or(0);
  return out;
}

bool add_plane(const Rewriter& e, Q4Table& low, ValueId value) {
  const auto high = private_table(e, value);
  const auto single = [](const Q4Table& t) { return t.weights.size() == 1 && t.shift == 0 && t.minima == no_value; };
  if (!high || high->op == low.op || !single(low) || !single(*high) || low.scales != high->scales ||
      low.tokens != high->tokens || low.group != high->group)
    return false;
  low.weights = {high->weights[0], low.weights[0]};
  low.ops.insert(low.ops.end(), high->ops.begin(), high->ops.end());
  return true;
}

// Is this a row of the table for each token, in groups? Axes of tokens that could change places are left alone.
bool is_in_groups(const Rewriter& e, const Q4Table& table, const Shape& shape) {
  Shape wanted = e.tensor(table.tokens)->max;
  const auto is_long = [](u32 size) { return size > 1; };
  if (wanted.rank() + 2 != shape.rank() || std::ranges::count_if(wanted, is_long) > 1) return false;
  wanted.push_back(e.tensor(table.scales)->max.dim(-1));
  wanted.push_back(u32(table.group));
  return wanted == shape;
}

// table + times · embedding(scales or minima), one for each group
bool add_rows(const Rewriter& e, Q4Table& table, const ScaledAdd& add) {
  const Shape& shape = e.tensor(add.y)->max;
  if (!is_in_groups(e, table, shape) || !(e.tensor(add.a)->max == shape) || table.minima != no_value) return false;
  Shape per_group = shape;
  per_group[shape.rank() - 1] = 1;
  const auto [from, copies] = e.private_source(add.b);
  const auto index = e.producer(from);
  const Op* rows = e.uses(from) == 1 ? e.find(index, "aten.embedding.default") : nullptr;
  if (!rows || rows->arg("indices") != table.tokens || !(e.tensor(add.b)->max == per_group)) return false;
  const ValueId looked_up = rows->arg("table");
  if (const auto shift = shifted(table.shift, add.times); looked_up == table.scales && shift)
    table.shift = *shift;
  else if (add.times == 1)
    table.minima = looked_up;
  else
    return false;
  table.ops.insert(table.ops.end(), copies.begin(), copies.end());
  table.ops.push_back(*index);
  return true;
}

void fuse(Rewriter& e, const gpu::DeviceInfo& device) {
  for (u32 i = 0; i < e.size(); ++i) {
    const auto add = scaled_add(e, i);
    auto table = add ? private_table(e, add->a) : std::nullopt;
    if (!table || !is_float(e.tensor(add->y)->dtype)) continue;
    const bool same_shape = e.tensor(table->out)->max == e.tensor(add->y)->max;
    const bool plane = add->times == high_plane && same_shape && add_plane(e, *table, add->b);
    if (!plane && !add_rows(e, *table, *add)) continue;
    if (!table->fits(e, device)) continue;
    table->ops.push_back(i);
    const ValueId minima = table->minima == no_value ? e.add({}) : table->minima;
    e.fuse(i,
           e.make(fused_name,
                  {e.add(graph::ValueList{table->weights}), table->scales, minima, e.add(table->group),
                   e.add(table->shift), table->tokens, add->y},
                  e.op(table->op)),
           table->ops);
  }
}

}  // namespace

const Pass embedding_pass{"embedding-offsets", "tables of planes, shifts and minima become one 4-bit embedding", fuse};

}  // namespace pteron::ops
