// SPDX-License-Identifier: BSD-3-Clause
#include "convert/matrix_ops.h"

namespace pteron::convert {
namespace {

Axes with_last(Axes axes, u32 size) {
  axes.back() = size;
  return axes;
}

// The one axis of [1, rows, columns] or [1, columns] that counts rows.
Axis row_axis(const Axes& axes) { return axes[axes.size() - 2]; }

}  // namespace

u32 MatrixOps::plane_linear(u32 x, const Weight& weight, u32 plane, const Weight* bias) {
  const u32 packed = g_.constant(weight.plane(plane)), scales = g_.constant(weight.transposed_scales(plane));
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
  // aten.linear wants matrices.
  const auto plain = [&](u32 input, Constant matrix, u32 added) {
    const u32 flat = g_.activation({row_axis(result), weight.rows()});
    g_.op("aten.linear.default", {input, g_.constant(std::move(matrix)), added, flat});
    return result.size() == 2 ? flat : g_.view(flat, result);
  };
  if (!weight.quantized()) {
    const u32 rows = rows_of(x);
    return plain(rows, weight.numbers(), bias ? g_.constant(bias->numbers()) : g_.null());
  }
  u32 y = plane_linear(x, weight, 0, bias);
  for (u32 plane = 1; plane < weight.planes(); ++plane) y = g_.add(y, plane_linear(x, weight, plane, nullptr));
  if (!weight.has_offsets()) return y;
  return g_.add(y, plain(group_sums(x, weight.group()), weight.offsets(), g_.null()));
}

u32 MatrixOps::embedding(u32 tokens, const Weight& table) {
  Axes axes = g_.axes(tokens);
  const auto gather = [&](const Constant& rows) {
    Axes found = axes;
    found.push_back(rows.shape.dim(-1));
    const u32 out = g_.activation(found);
    g_.op("aten.embedding.default",
          {g_.constant(rows), tokens, g_.integer(-1), g_.boolean(false), g_.boolean(false), out});
    return out;
  };
  if (!table.quantized()) return gather(table.numbers());
  axes.push_back(table.columns());
  const auto plane = [&](u32 i) {
    const u32 packed = g_.constant(table.plane(i)), scales = g_.constant(table.row_scales(i));
    const u32 out = g_.activation(axes);
    g_.op("et_vk.embedding_q4gsw.default", {packed, scales, g_.integer(table.group()), tokens, g_.boolean(true), out});
    return out;
  };
  u32 y = plane(0);
  for (u32 i = 1; i < table.planes(); ++i) y = g_.add(y, plane(i));
  if (!table.has_offsets()) return y;
  axes.pop_back();
  const Axis positions = axes.back();
  const u32 offsets = g_.view(gather(table.offsets()), {1, positions, table.groups(), 1});
  const u32 grouped = g_.view(y, {1, positions, table.groups(), table.group()});
  return g_.view(g_.add(grouped, offsets), {1, positions, table.columns()});
}

}  // namespace pteron::convert
