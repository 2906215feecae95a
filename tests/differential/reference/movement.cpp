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

// Of some axes, of one, or of all.
void squeeze(Call& op) {
  const Dims& from = op.tensor(0).dims;
  std::vector<bool> gone(from.size());
  Dims axes(from.size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = i64(i);
  if (op.name().ends_with(".dims")) axes = op.ints(1);
  if (op.name().ends_with(".dim")) axes = {op.integer(1)};
  for (i64 axis : axes) {
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

void swap_axes(Call& op) {
  const i64 rank = op.tensor(0).rank();
  Dims order(size_t(rank), 0);
  for (size_t i = 0; i < order.size(); ++i) order[i] = i64(i);
  if (rank > 0) std::swap(order[size_t(op.axis(1, rank))], order[size_t(op.axis(2, rank))]);
  permute_to(op, order);
}

// Any walk over the memory.
void as_strided(Call& op) {
  const Array& x = op.tensor(0);
  const Dims strides = op.ints(2);
  const i64 offset = op.integer_or(3, 0);
  Array y(x.dtype, op.ints(1));
  each(y.dims, [&](const Dims& index, i64 i) {
    i64 from = offset;
    for (size_t a = 0; a < index.size(); ++a) from += index[a] * strides[a];
    y.data[size_t(i)] = x.data.at(size_t(from));
  });
  op.give(std::move(y));
}

void diagonal(Call& op) {
  const Array& x = op.tensor(0);
  const i64 offset = op.integer_or(1, 0);
  const size_t a = size_t(op.axis(2, x.rank())), b = size_t(op.axis(3, x.rank()));
  const i64 below = std::max<i64>(-offset, 0), above = std::max<i64>(offset, 0);
  Dims dims;
  for (size_t i = 0; i < x.dims.size(); ++i)
    if (i != a && i != b) dims.push_back(x.dims[i]);
  dims.push_back(std::max<i64>(std::min(x.dims[a] - below, x.dims[b] - above), 0));
  op.give(moved(x, dims, [&](const Dims& index) {
    Dims from(x.dims.size());
    for (size_t i = 0, next = 0; i < from.size(); ++i)
      from[i] = i == a ? index.back() + below : i == b ? index.back() + above : index[next++];
    return from;
  }));
}

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

void split_equally(Call& op) {
  const Array x = op.tensor(0);
  const i64 axis = op.axis(2, x.rank()), size = op.integer(1);
  for (u32 i = 0; i < op.results(); ++i) op.give(i, part(x, axis, i * size, std::min(size, x.dim(axis) - i * size), 1));
}

void unbind(Call& op) {
  const Array x = op.tensor(0);
  const i64 axis = op.axis(1, x.rank());
  for (u32 i = 0; i < op.results(); ++i) {
    Array y = part(x, axis, i, 1, 1);
    y.dims.erase(y.dims.begin() + axis);
    op.give(i, std::move(y));
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

// Margins that mirror the input, or repeat its edge.
void repeating_pad(Call& op) {
  const Array& x = op.tensor(0);
  const bool mirrors = op.name().find("reflection") != std::string::npos;
  const Dims margins = op.ints(1);
  Dims dims = x.dims, low(x.dims.size(), 0);
  for (size_t i = 0; i + 1 < margins.size(); i += 2) {
    const size_t axis = dims.size() - 1 - i / 2;
    low[axis] = margins[i];
    dims[axis] += margins[i] + margins[i + 1];
  }
  op.give(moved(x, dims, [&](Dims index) {
    for (size_t a = 0; a < index.size(); ++a) {
      const i64 last = x.dims[a] - 1, from = index[a] - low[a];
      index[a] = !mirrors ? std::clamp<i64>(from, 0, last) : from < 0 ? -from : from > last ? 2 * last - from : from;
    }
    return index;
  }));
}

void roll(Call& op) {
  const Array& x = op.tensor(0);
  const Dims shifts = op.ints(1), axes = op.ints(2);
  Array y = x;
  for (size_t k = 0; k < shifts.size(); ++k) {
    const Array from = y;
    const size_t axis = axes.empty() ? 0 : size_t(axes[k] < 0 ? axes[k] + x.rank() : axes[k]);
    const i64 size = axes.empty() ? x.size() : x.dims[axis], inner = axes.empty() ? 1 : strides_of(x.dims)[axis];
    for (i64 i = 0; i < y.size(); ++i) {
      const i64 at = i / inner % size, source = ((at - shifts[k]) % size + size) % size;
      y.data[size_t(i)] = from.data[size_t(i + (source - at) * inner)];
    }
  }
  op.give(std::move(y));
}

// [.., C, H·r, W·r] becomes [.., C·r², H, W].
void pixel_unshuffle(Call& op) {
  const Array& x = op.tensor(0);
  const i64 r = op.integer(1);
  const size_t c = x.dims.size() - 3;
  Dims dims = x.dims;
  dims[c] *= r * r, dims[c + 1] /= r, dims[c + 2] /= r;
  op.give(moved(x, dims, [&](Dims index) {
    const i64 place = index[c] % (r * r);
    index[c] /= r * r;
    index[c + 1] = index[c + 1] * r + place / r, index[c + 2] = index[c + 2] * r + place % r;
    return index;
  }));
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
    {"aten._unsafe_view.default", view},
    {"aten.squeeze_copy.dims", squeeze},
    {"aten.squeeze_copy.dim", squeeze},
    {"aten.squeeze_copy.default", squeeze},
    {"aten.transpose_copy.int", swap_axes},
    {"aten.as_strided_copy.default", as_strided},
    {"aten.diagonal_copy.default", diagonal},
    {"aten.split_copy.Tensor", split_equally},
    {"aten.unbind_copy.int", unbind},
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
    {"aten.reflection_pad1d.default", repeating_pad},
    {"aten.reflection_pad2d.default", repeating_pad},
    {"aten.reflection_pad3d.default", repeating_pad},
    {"aten.replication_pad1d.default", repeating_pad},
    {"aten.replication_pad2d.default", repeating_pad},
    {"aten.replication_pad3d.default", repeating_pad},
    {"aten.roll.default", roll},
    {"aten.pixel_shuffle.default", pixel_shuffle},
    {"aten.pixel_unshuffle.default", pixel_unshuffle},
    {"aten.unfold_copy.default", unfold},
};

}  // namespace

extern const OpRules movement_rules = rules;

}  // namespace pteron::reference
