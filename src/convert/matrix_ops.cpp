// SPDX-License-Identifier: BSD-3-Clause
#include "convert/matrix_ops.h"

namespace pteron::convert {
namespace {

constexpr u32 high_plane = 16;  // what it counts

Axes with_last(Axes axes, u32 size) {
  axes.back() = size;
  return axes;
}

// The one axis of [1, rows, columns] or [1, columns] that counts rows.
Axis row_axis(const Axes& axes) { return axes[axes.size() - 2]; }

}  // namespace

u32 MatrixOps::plane_linear(u32 x, const Weight& weight, u32 plane, u32 scales, const Weight* bias) {
  const u32 packed = g_.constant(weight.plane(plane));
  const u32 added = bias ? g_.constant(bias->padded_numbers(4)) : g_.null();
  const u32 out = g_.activation(with_last(g_.axes(x), weight.rows()));
  g_.op("et_vk.linear_q4gsw.default", {x, packed, scales, g_.integer(weight.group()), added, out});
  return out;
}

u32 MatrixOps::group_sums(u32 x, u32 group) {
  const auto [found, is_new] = sums_.try_emplace({x, group}, 0);
  if (is_new) {
    const Axes axes = g_.axes(x);
    found->second = g_.sum_of_last_axis(g_.view(x, {row_axis(axes), axes.back().max / group, group}));
  }
  return found->second;
}

u32 MatrixOps::rows_of(u32 x) {
  const Axes axes = g_.axes(x);
  return axes.size() == 2 ? x : g_.view(x, {row_axis(axes), axes.back()});
}

u32 MatrixOps::linear(u32 x, const Weight& weight, const Weight* bias) {
  const Axes result = with_last(g_.axes(x), weight.rows());
  const auto shaped = [&](u32 matrix) { return result.size() == 2 ? matrix : g_.view(matrix, result); };
  // aten.linear and aten.mm want matrices.
  const auto plain = [&](u32 input, Constant matrix, u32 added) {
    const u32 flat = g_.activation({row_axis(result), weight.rows()});
    g_.op("aten.linear.default", {input, g_.constant(std::move(matrix)), added, flat});
    return shaped(flat);
  };
  if (!weight.quantized()) {
    const u32 rows = rows_of(x);
    return plain(rows, weight.numbers(), bias ? g_.constant(bias->numbers()) : g_.null());
  }
  const Constant transposed = weight.transposed_scales();
  const u32 scales = g_.constant(transposed), padded = transposed.shape.dim(-1);
  u32 y = plane_linear(x, weight, weight.planes() - 1, scales, bias);
  if (weight.planes() == 2) y = g_.add(y, plane_linear(x, weight, 0, scales, nullptr), high_plane);
  if (weight.shift() > 0) {
    const u32 sums = group_sums(x, weight.group()), wide = g_.activation({row_axis(result), padded});
    g_.op("aten.mm.default", {sums, scales, wide});
    y = g_.add(y, shaped(padded == weight.rows() ? wide : g_.first_columns(wide, weight.rows())), weight.shift());
  }
  if (weight.has_minima()) y = g_.add(y, plain(group_sums(x, weight.group()), weight.minima(), g_.null()));
  return y;
}

u32 MatrixOps::embedding(u32 tokens, const Weight& table) {
  Axes axes = g_.axes(tokens);
  const auto gather = [&](u32 rows, u32 width) {
    Axes found = axes;
    found.push_back(width);
    const u32 out = g_.activation(found);
    g_.op("aten.embedding.default", {rows, tokens, g_.integer(-1), g_.boolean(false), g_.boolean(false), out});
    return out;
  };
  if (!table.quantized()) return gather(g_.constant(table.numbers()), table.columns());
  const u32 scales = g_.constant(table.row_scales());
  const auto plane = [&](u32 i) {
    Axes found = axes;
    found.push_back(table.columns());
    const u32 packed = g_.constant(table.plane(i)), out = g_.activation(found);
    g_.op("et_vk.embedding_q4gsw.default", {packed, scales, g_.integer(table.group()), tokens, g_.boolean(true), out});
    return out;
  };
  u32 y = plane(table.planes() - 1);
  if (table.planes() == 2) y = g_.add(y, plane(0), high_plane);
  if (table.shift() == 0) return y;
  // A row of a table with one number for each group, and what it is added to.
  const Axis positions = axes.back();
  const auto per_group = [&](u32 rows) {
    return g_.view(gather(rows, table.groups()), {1, positions, table.groups(), 1});
  };
  y = g_.add(g_.view(y, {1, positions, table.groups(), table.group()}), per_group(scales), table.shift());
  if (table.has_minima()) y = g_.add(y, per_group(g_.constant(table.minima())));
  return g_.view(y, {1, positions, table.columns()});
}

}  // namespace pteron::convert
