// SPDX-License-Identifier: BSD-3-Clause
#include "convert/graph_draft.h"

#include <algorithm>

namespace pteron::convert {

u32 GraphDraft::constant(Constant constant) {
  const u32 id = constant_tensor(constant.dtype, constant.shape, {"", {}, constant.bytes()});
  constants.push_back(std::move(constant));
  return id;
}

u32 GraphDraft::prepacked(Constant source) {
  const Axes axes(source.shape.begin(), source.shape.end());
  const u32 id = constant(std::move(source));
  const u32 out = activation(axes);
  op("et_vk.prepack.default", {id, out});
  return out;
}

u32 GraphDraft::activation(Axes axes, DType dtype) {
  Shape shape;
  for (const Axis& axis : axes) shape.push_back(axis.max);
  const u32 id = tensor(dtype, shape);
  axes_.emplace(id, std::move(axes));
  return id;
}

Axis GraphDraft::make_live(u32 x, u32 axis) {
  const u32 size = symint();
  op("sym_size.int", {x, integer(axis), size});
  axes_.at(x)[axis].symint = size;
  return axes_.at(x)[axis];
}

u32 GraphDraft::host_element(u32 x, u32 index) {
  const u32 out = symint();
  op("et_vk.select_as_symint.default", {x, integer(0), integer(index), out});
  return out;
}

u32 GraphDraft::sum(u32 a, u32 b) {
  const u32 out = symint();
  op("add", {a, b, out});
  return out;
}

u32 GraphDraft::add(u32 a, u32 b, u32 times) {
  const u32 out = activation(axes(a));
  op("aten.add.Tensor", {a, b, integer(times), out});
  return out;
}

u32 GraphDraft::multiply(u32 a, u32 b) {
  const u32 out = activation(axes(a));
  op("aten.mul.Tensor", {a, b, out});
  return out;
}

u32 GraphDraft::sigmoid(u32 x) {
  const u32 out = activation(axes(x));
  op("aten.sigmoid.default", {x, out});
  return out;
}

u32 GraphDraft::rms_norm(u32 x, u32 weight, f64 epsilon) {
  const u32 out = activation(axes(x));
  op("et_vk.rms_norm.default", {x, weight, number(epsilon), out});
  return out;
}

u32 GraphDraft::view(u32 x, Axes axes) {
  u32 sizes = 0;
  if (std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.symint.has_value(); })) {
    std::vector<u32> ids;
    for (const Axis& axis : axes) ids.push_back(axis.symint ? *axis.symint : integer(axis.max));
    sizes = list(std::move(ids));
  } else {
    std::vector<i64> fixed;
    for (const Axis& axis : axes) fixed.push_back(axis.max);
    sizes = ints(std::move(fixed));
  }
  const u32 out = activation(std::move(axes));
  op("aten.view_copy.default", {x, sizes, out});
  return out;
}

u32 GraphDraft::slice(u32 x, u32 first, u32 last, const Axis& length) {
  Axes sliced = axes(x);
  sliced[0] = length;
  const u32 out = activation(std::move(sliced));
  op("aten.slice_copy.Tensor", {x, integer(0), first, last, integer(1), out});
  return out;
}

u32 GraphDraft::first_columns(u32 x, u32 count) {
  Axes cut = axes(x);
  cut.back() = count;
  const u32 last = u32(cut.size()) - 1, out = activation(std::move(cut));
  op("aten.slice_copy.Tensor", {x, integer(last), integer(0), integer(count), integer(1), out});
  return out;
}

u32 GraphDraft::last_of_axis(u32 x, u32 axis) {
  Axes rest = axes(x);
  rest.erase(rest.begin() + axis);
  const u32 out = activation(std::move(rest));
  op("aten.select_copy.int", {x, integer(axis), integer(-1), out});
  return out;
}

u32 GraphDraft::sum_of_last_axis(u32 x) {
  Axes rest = axes(x);
  rest.pop_back();
  const u32 out = activation(std::move(rest));
  op("aten.sum.dim_IntList", {x, ints({-1}), boolean(false), null(), out});
  return out;
}

}  // namespace pteron::convert
