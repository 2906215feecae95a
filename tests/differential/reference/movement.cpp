// SPDX-License-Identifier: BSD-3-Clause
// Ops that put elements in other places.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <stdexcept>

namespace pteron::reference {
namespace {

// y[index] = x[from(index)]
template <class Fn>
Array moved(const Array& x, Dims dims, Fn from) {
  Array y(x.dtype, std::move(dims));
  each(y.dims, [&](const Dims& index, i64 i) { y.data[size_t(i)] = at(x, from(index)); });
  return y;
}

void reshape(Call& op, Dims dims) {
  Array y = op.tensor(0);
  y.dims = std::move(dims);
  if (count(y.dims) != y.size()) throw std::runtime_error("a view changes the number of elements");
  op.give(std::move(y));
}

void nothing(Call&) {}  // a prepack's result is its constant
void clone(Call& op) { reshape(op, op.tensor(0).dims); }

void view(Call& op) {
  Dims dims = op.ints(1);
  i64 known = 1;
  for (i64 d : dims) known *= d == -1 ? 1 : d;
  for (i64& d : dims)
    if (d == -1) d = op.tensor(0).size() / std::max<i64>(known, 1);
  reshape(op, dims);
}

void unsqueeze(Call& op) {
  Dims dims = op.tensor(0).dims;
  i64 axis = op.integer(1);
  if (axis < 0) axis += i64(dims.size()) + 1;
  dims.insert(dims.begin() + axis, 1);
  reshape(op, dims);
}

void squeeze(Call& op) {
  const Dims& from = op.tensor(0).dims;
  std::vector<bool> gone(from.size());
  for (i64 axis : op.ints(1)) {
    if (axis < 0) axis += i64(from.size());
    if (size_t(axis) < from.size()) gone[size_t(axis)] = from[size_t(axis)] == 1;
  }
  Dims dims;
  for (size_t i = 0; i < from.size(); ++i)
    if (!gone[i]) dims.push_back(from[i]);
  reshape(op, dims);
}

void permute_to(Call& op, Dims order) {
  const Array& x = op.tensor(0);
  Dims dims;
  for (i64& axis : order) {
    if (axis < 0) axis += x.rank();
    dims.push_back(x.dim(axis));
  }
  op.give(moved(x, dims, [&](const Dims& index) {
    Dims out(index.size());
    for (size_t i = 0; i < order.size(); ++i) out[size_t(order[i])] = index[i];
    return out;
  }));
}
void permute(Call& op) { permute_to(op, op.ints(1)); }
void transpose(Call& op) { permute_to(op, op.tensor(0).rank() < 2 ? Dims(op.tensor(0).dims.size(), 0) : Dims{1, 0}); }

Array part(const Array& x, i64 axis, i64 start, i64 length, i64 step) {
  Dims dims = x.dims;
  dims[size_t(axis)] = length;
  Array y(x.dtype, dims);
  const Dims strides = strides_of(x.dims);
  each(dims, [&](const Dims& index, i64 i) {
    i64 offset = 0;
    for (size_t a = 0; a < index.size(); ++a)
      offset += strides[a] * (i64(a) == axis ? start + index[a] * step : index[a]);
    y.data[size_t(i)] = x.data[size_t(offset)];
  });
  return y;
}

void slice(Call& op) {
  const Array& x = op.tensor(0);
  const i64 axis = op.axis(1, x.rank()), size = x.dim(axis), step = op.integer_or(4, 1);
  const auto bound = [&](u32 arg, i64 otherwise) {
    const i64 v = op.integer_or(arg, otherwise);
    return std::clamp<i64>(v < 0 ? v + size : v, 0, size);
  };
  const i64 start = bound(2, 0), end = std::max(start, bound(3, size));
  op.give(part(x, axis, start, (end - start + step - 1) / step, step));
}

void select(Call& op) {
  const Array& x = op.tensor(0);
  const i64 axis = op.axis(1, x.rank());
  i64 index = op.integer(2);
  if (index < 0) index += x.dim(axis);
  if (index < 0 || index >= x.dim(axis)) throw std::runtime_error("an index is out of range");
  Array y = part(x, axis, index, 1, 1);
  y.dims.erase(y.dims.begin() + axis);
  op.give(std::move(y));
}

void split(Call& op) {
  const Array x = op.tensor(0);
  const i64 axis = op.axis(2, x.rank());
  i64 start = 0;
  u32 item = 0;
  for (i64 size : op.ints(1)) {
    op.give(item++, part(x, axis, start, size, 1));
    start += size;
  }
}

void cat(Call& op) {
  std::vector<const Array*> parts;
  for (u32 i = 0; i < op.items(0); ++i)
    if (const Array& x = op.item(0, i); x.dims != Dims{0}) parts.push_back(&x);
  if (parts.empty()) return op.give(op.make({0}));
  const size_t axis = size_t(op.axis(1, parts[0]->rank()));
  Dims dims = parts[0]->dims;
  dims[axis] = 0;
  for (const Array* x : parts) dims[axis] += x->dims[axis];
  Array y = op.make(dims);
  each(dims, [&](const Dims& index, i64 i) {
    Dims in = index;
    size_t p = 0;
    while (in[axis] >= parts[p]->dims[axis]) in[axis] -= parts[p++]->dims[axis];
    y.data[size_t(i)] = at(*parts[p], in);
  });
  op.give(std::move(y));
}

void expand(Call& op) {
  const Array& x = op.tensor(0);
  Dims dims = op.ints(1);
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] == -1) dims[i] = x.dim(i64(i) - i64(dims.size()));
  op.give(moved(x, dims, [](const Dims& index) { return index; }));
}

void repeat(Call& op) {
  const Array& x = op.tensor(0);
  Dims dims = op.ints(1);
  const size_t added = dims.size() - x.dims.size();
  for (size_t i = added; i < dims.size(); ++i) dims[i] *= x.dims[i - added];
  op.give(moved(x, dims, [&](Dims index) {
    for (size_t i = added; i < dims.size(); ++i) index[i] %= x.dims[i - added];
    return index;
  }));
}

void flip(Call& op) {
  const Array& x = op.tensor(0);
  std::vector<bool> turned(x.dims.size());
  for (i64 axis : op.ints(1)) turned[size_t(axis < 0 ? axis + x.rank() : axis)] = true;
  op.give(moved(x, x.dims, [&](Dims index) {
    for (size_t i = 0; i < index.size(); ++i)
      if (turned[i]) index[i] = x.dims[i] - 1 - index[i];
    return index;
  }));
}

void pad(Call& op) {
  const Array& x = op.tensor(0);
  const Dims margins = op.ints(1);
  Dims dims = x.dims, low(x.dims.size(), 0);
  for (size_t i = 0; i + 1 < margins.size(); i += 2) {
    const size_t axis = dims.size() - 1 - i / 2;
    low[axis] = margins[i];
    dims[axis] += margins[i] + margins[i + 1];
  }
  const f64 value = op.number_or(2, 0);
  Array y = op.make(dims);
  each(dims, [&](Dims index, i64 i) {
    bool inside = true;
    for (size_t a = 0; a < index.size(); ++a) {
      index[a] -= low[a];
      inside &= index[a] >= 0 && index[a] < x.dims[a];
    }
    y.data[size_t(i)] = inside ? at(x, index) : value;
  });
  op.give(std::move(y));
}

// [.., C·r², H, W] becomes [.., C, H·r, W·r].
void pixel_shuffle(Call& op) {
  const Array& x = op.tensor(0);
  const i64 r = op.integer(1);
  const size_t c = x.dims.size() - 3;
  Dims dims = x.dims;
  dims[c] /= r * r, dims[c + 1] *= r, dims[c + 2] *= r;
  op.give(moved(x, dims, [&](Dims index) {
    index[c] = (index[c] * r + index[c + 1] % r) * r + index[c + 2] % r;
    index[c + 1] /= r, index[c + 2] /= r;
    return index;
  }));
}

// unfold(x, axis, size, step, out): windows of an axis, their elements in a new last axis.
void unfold(Call& op) {
  const Array& x = op.tensor(0);
  const i64 size = op.integer(2), step = op.integer(3);
  if (x.rank() == 0) return reshape(op, {size});
  const size_t axis = size_t(op.axis(1, x.rank()));
  Dims dims = x.dims;
  dims[axis] = (dims[axis] - size) / step + 1;
  dims.push_back(size);
  op.give(moved(x, dims, [&](Dims index) {
    index[axis] = index[axis] * step + index.back();
    index.pop_back();
    return index;
  }));
}

constexpr OpRule rules[] = {
    {"et_vk.prepack.default", nothing},
    {"aten.clone.default", clone},
    {"aten.alias_copy.default", clone},
    {"dim_order_ops._clone_dim_order.default", clone},
    {"aten.view_copy.default", view},
    {"aten.unsqueeze_copy.default", unsqueeze},
    {"aten.squeeze_copy.dims", squeeze},
    {"aten.permute_copy.default", permute},
    {"aten.permute.default", permute},
    {"aten.t_copy.default", transpose},
    {"aten.slice_copy.Tensor", slice},
    {"aten.select_copy.int", select},
    {"aten.split_with_sizes_copy.default", split},
    {"aten.cat.default", cat},
    {"aten.expand_copy.default", expand},
    {"aten.repeat.default", repeat},
    {"aten.flip.default", flip},
    {"aten.constant_pad_nd.default", pad},
    {"aten.pixel_shuffle.default", pixel_shuffle},
    {"aten.unfold_copy.default", unfold},
};

}  // namespace

extern const OpRules movement_rules = rules;

}  // namespace pteron::reference
