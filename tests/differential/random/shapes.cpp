// SPDX-License-Identifier: BSD-3-Clause
// Views, and ops that put elements in other places.
#include "differential/random/generator.h"

#include <algorithm>

namespace pteron::differential {

void Generator::reshape() {
  const Sizes sizes = base();
  const u32 x = some(sizes);
  Sizes out = sizes;
  switch (choices_.below(4)) {
    case 0: {
      op("aten.clone.default", {x, null(), result(DType::f32, sizes)});
      break;
    }
    case 1: {
      const u32 axis = choices_.below(u32(sizes.size()) + 1);
      out.insert(out.begin() + axis, Dim{1});
      op("aten.unsqueeze_copy.default",
         {x, integer(i64(axis) - (choices_.percent(30) ? i64(out.size()) : 0)), result(DType::f32, out)});
      break;
    }
    case 2: {
      out.insert(out.begin(), Dim{1});
      if (out.back().size % 2 == 0 && !out.back().live) {
        out.back().size /= 2;
        out.push_back({2});
      }
      const u32 list = size_list(out);
      op("aten.view_copy.default", {x, list, result(DType::f32, out)});
      break;
    }
    default: {
      const auto one = std::ranges::find(out, Dim{1});
      if (one == out.end()) return;
      const i64 axis = one - out.begin();
      out.erase(one);
      op("aten.squeeze_copy.dims", {x, b_.ints({axis}), result(DType::f32, out)});
    }
  }
}

void Generator::move() {
  Sizes sizes = base();
  if (sizes.empty()) sizes = {{2}, {width_}};
  const u32 x = some(sizes), axis = axis_of(sizes), fixed = static_axis(sizes);
  Sizes out = sizes;
  switch (choices_.below(5)) {
    case 0: {
      std::vector<i64> order(sizes.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = i64(order.size() - 1 - i);
      std::ranges::reverse(out);
      op("aten.permute_copy.default", {x, b_.ints(order), result(DType::f32, out)});
      break;
    }
    case 1: op("aten.flip.default", {x, b_.ints({i64(axis)}), result(DType::f32, out)}); break;
    case 2: {
      out.insert(out.begin(), Dim{2});
      const u32 list = size_list(out);
      op("aten.expand_copy.default", {x, list, b_.boolean(false), result(DType::f32, out)});
      break;
    }
    case 3: {
      if (fixed == sizes.size()) return;
      std::vector<i64> times(sizes.size(), 1);
      times[fixed] = 2, out[fixed].size *= 2;
      op("aten.repeat.default", {x, b_.ints(times), result(DType::f32, out)});
      break;
    }
    default: {
      if (out.back().live) return;
      out.back().size += 3;
      op("aten.constant_pad_nd.default", {x, b_.ints({1, 2}), b_.number(0.5), result(DType::f32, out)});
    }
  }
}

void Generator::join() {
  Sizes sizes = base();
  if (sizes.empty()) sizes = {{width_}};
  const u32 axis = static_axis(sizes), count = 1 + choices_.below(3);
  if (axis == sizes.size()) return;
  std::vector<u32> parts;
  Sizes out = sizes;
  out[axis].size = 0;
  for (u32 i = 0; i < count; ++i) {
    Sizes part = sizes;
    if (choices_.percent(30)) part[axis].size = choices_.below(4);
    parts.push_back(some(part));
    out[axis].size += part[axis].size;
  }
  if (out[axis].size == 0 && out.size() == 1) return;
  const u32 list = b_.list(parts);
  op("aten.cat.default", {list, integer(axis), result(DType::f32, out)});
}

void Generator::take() {
  Sizes sizes = base();
  if (sizes.empty()) sizes = {{3}, {width_}};
  const u32 x = some(sizes), axis = static_axis(sizes);
  if (axis == sizes.size()) return;
  const u32 size = sizes[axis].size;
  Sizes out = sizes;
  switch (choices_.below(3)) {
    case 0: {
      const u32 start = choices_.below(size + 1), step = 1 + choices_.below(2);
      out[axis].size = (size - start + step - 1) / step;
      const u32 end = choices_.percent(50) ? integer(INT64_MAX) : choices_.percent(50) ? null() : integer(size);
      op("aten.slice_copy.Tensor", {x, integer(axis), integer(start), end, integer(step), result(DType::f32, out)});
      break;
    }
    case 1: {
      if (size == 0) return;
      out.erase(out.begin() + axis);
      op("aten.select_copy.int", {x, integer(axis), integer(-i64(choices_.below(size)) - 1), result(DType::f32, out)});
      break;
    }
    default: {
      const u32 first = choices_.below(size + 1);
      Sizes rest = out;
      out[axis].size = first, rest[axis].size = size - first;
      const u32 a = result(DType::f32, out, false), b = result(DType::f32, rest, false);
      op("aten.split_with_sizes_copy.default", {x, b_.ints({first, size - first}), integer(axis), b_.list({a, b})});
    }
  }
}

}  // namespace pteron::differential
