// SPDX-License-Identifier: BSD-3-Clause
// Ops that look elements up by indices in another tensor.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <stdexcept>

namespace pteron::reference {
namespace {

i64 checked(f64 index, i64 size, bool negative = false) {
  i64 i = i64(index);
  if (negative && i < 0) i += size;
  if (i < 0 || i >= size) throw std::runtime_error("an index is out of range");
  return i;
}

// Slices of x along an axis, one for each index; the indices' axes take that axis's place.
Array slices(const Array& x, size_t axis, const Array& indices, bool negative = false) {
  Dims dims(x.dims.begin(), x.dims.begin() + i64(axis));
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + i64(axis) + 1, x.dims.end());
  Array y(x.dtype, dims);
  each(dims, [&](const Dims& index, i64 i) {
    const auto first = index.begin() + i64(axis), last = first + indices.rank();
    Dims in(index.begin(), first);
    in.push_back(checked(at(indices, Dims(first, last)), x.dims[axis], negative));
    in.insert(in.end(), last, index.end());
    y.data[size_t(i)] = at(x, in);
  });
  return y;
}

void embedding(Call& op) { op.give(slices(op.tensor(0), 0, op.tensor(1))); }

void index_select(Call& op) {
  const Array& x = op.tensor(0);
  const Array& indices = op.tensor(2);
  if (x.rank() > 0 && indices.rank() == 1) return op.give(slices(x, size_t(op.axis(1, x.rank())), indices));
  Array rows = x, one = indices;
  if (rows.rank() == 0) rows.dims = {1};
  one.dims = {1};
  Array y = slices(rows, size_t(op.axis(1, rows.rank())), one);
  if (x.rank() == 0) y.dims = {};
  op.give(std::move(y));
}

// What several indices say together: which places of x an element of x[indices] stands for.
struct Places {
  Dims dims;                // of x[indices]
  std::vector<size_t> all;  // in x
};
Places places_of(Call& op) {
  const Array& x = op.tensor(0);
  Dims shape;
  std::vector<bool> indexed(x.dims.size());
  size_t first = x.dims.size(), last = 0, number = 0;
  for (u32 axis = 0; axis < op.items(1); ++axis) {
    if (op.item_is_null(1, axis)) continue;
    shape = broadcast(shape, op.item(1, axis).dims);
    indexed[axis] = true;
    first = std::min<size_t>(first, axis), last = axis, ++number;
  }
  const size_t start = last - first + 1 == number ? first : 0;  // where the indices' axes are in the result
  Places out;
  for (size_t axis = 0; axis < x.dims.size(); ++axis) {
    if (axis == start) out.dims.insert(out.dims.end(), shape.begin(), shape.end());
    if (!indexed[axis]) out.dims.push_back(x.dims[axis]);
  }
  const Dims strides = strides_of(x.dims);
  each(out.dims, [&](const Dims& index, i64) {
    const Dims chosen(index.begin() + i64(start), index.begin() + i64(start + shape.size()));
    i64 offset = 0;
    for (size_t axis = 0, next = 0; axis < x.dims.size(); ++axis) {
      if (next == start) next += shape.size();
      const i64 i = indexed[axis] ? checked(at(op.item(1, u32(axis)), chosen), x.dims[axis], true) : index[next++];
      offset += i * strides[axis];
    }
    out.all.push_back(size_t(offset));
  });
  return out;
}

void index(Call& op) {
  const Places places = places_of(op);
  Array y = op.make(places.dims);
  for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = op.tensor(0).data[places.all[i]];
  op.give(std::move(y));
}

void gather(Call& op) {
  const Array &x = op.tensor(0), &indices = op.tensor(2);
  if (x.rank() == 0) return op.give(x);
  const size_t axis = size_t(op.axis(1, x.rank()));
  const Dims strides = strides_of(x.dims);
  Array y = op.make(indices.dims);
  each(indices.dims, [&](const Dims& index, i64 i) {
    i64 offset = 0;
    for (size_t a = 0; a < index.size(); ++a)
      offset += strides[a] * (a == axis ? checked(indices.data[size_t(i)], x.dims[a]) : index[a]);
    y.data[size_t(i)] = x.data[size_t(offset)];
  });
  op.give(std::move(y));
}

constexpr OpRule rules[] = {
    {"aten.embedding.default", embedding},
    {"aten.index_select.default", index_select},
    {"aten.index.Tensor", index},
    {"aten.gather.default", gather},
};

}  // namespace

extern const OpRules indexing_rules = rules;

}  // namespace pteron::reference
