// SPDX-License-Identifier: BSD-3-Clause
// 4-bit linears and what converters put around them.
#include "differential/random/generator.h"

#include <algorithm>

namespace pteron::differential {

const Generator::Weight& Generator::weight(u32 columns, u32 depth) {
  for (const Weight& w : weights_)
    if (w.columns == columns && w.depth == depth && choices_.percent(25)) return w;
  const u32 group = depth % 16 == 0 && choices_.percent(30) ? 16 : std::min(depth, 8u);
  const u32 bytes = constant(DType::u8, {{columns}, {(depth + 7) / 8 * 4}}, {Fill::bytes});
  const u32 scales = constant(DType::f32, {{(depth + group - 1) / group}, {columns}}, {Fill::scales});
  weights_.push_back({bytes, scales, columns, depth, group});
  return weights_.back();
}

u32 Generator::linear_q4(u32 x, const Sizes& sizes, const Weight& w, bool biased, bool over) {
  Sizes out = sizes;
  out.back() = {w.columns};
  const u32 bytes = name_of(w.bytes), scales = name_of(w.scales);
  const u32 bias = biased ? name_of(constant(DType::f32, {{w.columns}})) : null();
  const u32 y = result(DType::f32, out, over);
  op("et_vk.linear_q4gsw.default", {x, bytes, scales, integer(w.group), bias, y});
  find(x)->read = true;
  return y;
}

void Generator::linears() {
  const u32 depth = width_ % 4 == 0 ? width_ : 8;
  Sizes sizes = choices_.percent(15) ? Sizes{{1}, {rows_, is_live_}, {depth}} : Sizes{{rows_, is_live_}, {depth}};
  u32 x = some(sizes);
  if (choices_.percent(45)) {
    const u32 gain = name_of(constant(DType::f32, {{depth}})), y = result(DType::f32, sizes);
    op("et_vk.rms_norm.default", {x, gain, b_.number(1e-5), y});
    x = y;
    find(x)->read = true;
  }
  const u32 columns = choices_.percent(60) ? width_ : 1 + choices_.below(10);
  switch (choices_.below(7)) {
    case 3:
    case 4: return gated(x, sizes, columns);
    case 5: return planes(x, sizes, columns);
    case 6: return offsets(x, sizes, columns);
    default: break;
  }
  const bool biased = choices_.percent(25);
  Sizes out = sizes;
  out.back() = {columns};
  if (is_static(out) && choices_.percent(25)) constant(DType::f32, out);  // for a linear to write, and others to read
  choices_.repeat(60, [&](u32 i) {
    const u32 y = linear_q4(x, sizes, weight(columns, depth), biased);
    if (choices_.percent(35)) {  // a residual, or something like one
      find(y)->read = true;
      const u32 other = some(choices_.percent(85) ? out : narrower(out));
      const u32 alpha = choices_.percent(85) ? integer(1) : b_.number(0.5), z = result(DType::f32, out);
      op("aten.add.Tensor", either(y, other, {alpha, z}));
    }
    if (depth_++ == 0 && choices_.percent(25)) choices_.percent(60) ? mutate() : requantise();
    --depth_;
    return i < 3;
  });
}

// silu(first) · second
void Generator::gated(u32 x, const Sizes& sizes, u32 columns) {
  Sizes out = sizes;
  out.back() = {columns};
  const bool biased = choices_.percent(20);
  const Weight gate = weight(columns, sizes.back().size), up = weight(columns, sizes.back().size);
  const u32 g = linear_q4(x, sizes, gate, biased, false);
  if (choices_.percent(10)) mutate();
  const u32 u = linear_q4(x, sizes, up, biased, choices_.percent(20));
  const u32 s = result(DType::f32, out, false), silu = result(DType::f32, out, false), y = result(DType::f32, out);
  op("aten.sigmoid.default", {g, s});
  op("aten.mul.Tensor", either(g, s, {silu}));
  if (choices_.percent(10)) mutate();
  op("aten.mul.Tensor", either(u, silu, {y}));
  for (u32 id : {g, u, s, silu}) find(id)->read = true;
}

// The sum of two linears of the same input, mostly as an 8-bit weight is written: the second counts 16-fold and has the
// scales of the first.
void Generator::planes(u32 x, const Sizes& sizes, u32 columns) {
  Sizes out = sizes;
  out.back() = {columns};
  const Weight low = weight(columns, sizes.back().size);
  Weight high = weight(columns, sizes.back().size);
  if (high.group == low.group && choices_.percent(80)) high.scales = low.scales;
  const u32 a = linear_q4(x, sizes, low, choices_.percent(20)), b = linear_q4(x, sizes, high, choices_.percent(10));
  find(a)->read = find(b)->read = true;
  op("aten.add.Tensor", {a, b, integer(choices_.percent(80) ? 16 : 1), result(DType::f32, out)});
}

// A linear and an offset for each group of its weight: a product of the sums of x's groups with its scales, or with
// minima.
void Generator::offsets(u32 x, const Sizes& sizes, u32 columns) {
  const Weight w = weight(columns, sizes.back().size);
  if (w.depth % w.group != 0) return;
  Sizes cut = sizes, sums = sizes, out = sizes;
  cut.back() = {w.depth / w.group};
  sums.back() = {w.depth / w.group};
  cut.push_back({w.group});
  out.back() = {columns};
  const u32 y = linear_q4(x, sizes, w, choices_.percent(20), false);
  const u32 groups = result(DType::f32, cut, false), sum = result(DType::f32, sums, false);
  op("aten.view_copy.default", {x, size_list(cut), groups});
  if (choices_.percent(10)) mutate();
  op("aten.sum.dim_IntList", {groups, b_.ints({-1}), b_.boolean(false), null(), sum});
  const u32 part = result(DType::f32, out, false);
  if (sums.size() == 2 && choices_.percent(40)) {
    op("aten.mm.default", {sum, name_of(w.scales), part});
    op("aten.add.Tensor", {y, part, integer(8), result(DType::f32, out)});
  } else {
    const u32 table = name_of(constant(DType::f32, {{columns}, {w.depth / w.group}}));
    op("aten.linear.default", {sum, table, null(), part});
    u32 added = part;
    if (choices_.percent(20)) {  // the first column, for all of them
      Sizes first = out;
      first.back() = {1};
      added = result(DType::f32, first, false);
      op("aten.slice_copy.Tensor", {part, integer(u32(out.size()) - 1), integer(0), integer(1), integer(1), added});
      find(added)->read = true;
    }
    op("aten.add.Tensor", either(y, added, {integer(1), result(DType::f32, out)}));
  }
  for (u32 id : {y, groups, sum, part}) find(id)->read = true;
}

// A 4-bit table that tokens look up; often also a linear's weight. It may have a second plane and, for each group, a
// multiple of the scale or a minimum.
void Generator::table_q4() {
  const u32 vocabulary = 3 + choices_.below(9), depth = 16, group = 8;
  const Sizes sizes{{rows_, is_live_}, {depth}};
  const u32 scales = name_of(constant(DType::f32, {{vocabulary}, {depth / group}}, {Fill::scales}));
  const u32 tokens = input(DType::i32, {{rows_, is_live_}}, {Fill::indices, vocabulary});
  const auto look_up = [&] {
    const u32 table = name_of(choices_.percent(50) ? weight(vocabulary, depth).bytes
                                                   : constant(DType::u8, {{vocabulary}, {depth / 2}}, {Fill::bytes}));
    const u32 found = result(DType::f32, sizes);
    op("et_vk.embedding_q4gsw.default", {table, scales, integer(group), tokens, b_.boolean(true), found});
    return found;
  };
  u32 y = look_up();
  if (choices_.percent(40)) {
    const u32 high = look_up(), sum = result(DType::f32, sizes);
    op("aten.add.Tensor", {y, high, integer(choices_.percent(80) ? 16 : 1), sum});
    find(y)->read = find(high)->read = true;
    y = sum;
  }
  if (choices_.percent(50)) return;
  const Sizes each{{rows_, is_live_}, {depth / group}};
  Sizes cut = each, one = each;
  if (!is_live_ && choices_.percent(30)) cut = one = {{rows_ * depth / group}};  // another shape of the same
  cut.push_back({group});
  one.push_back({1});
  const bool shifts = choices_.percent(50);
  const u32 table = shifts ? scales : name_of(constant(DType::f32, {{vocabulary}, {depth / group}}));
  const u32 groups = result(DType::f32, cut, false), rows = result(DType::f32, each, false);
  op("aten.view_copy.default", {y, size_list(cut), groups});
  op("aten.embedding.default", {table, tokens, integer(-1), b_.boolean(false), b_.boolean(false), rows});
  const u32 wide = result(DType::f32, one, false);
  op("aten.view_copy.default", {rows, size_list(one), wide});
  op("aten.add.Tensor", {groups, wide, integer(shifts ? 8 : 1), result(DType::f32, cut)});
  for (u32 id : {y, groups, rows, wide}) find(id)->read = true;
}

}  // namespace pteron::differential
