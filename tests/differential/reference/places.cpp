// SPDX-License-Identifier: BSD-3-Clause
#include "differential/reference/places.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace pteron::reference {

i64 checked(f64 index, i64 size, bool negative) {
  i64 i = i64(index);
  if (negative && i < 0) i += size;
  if (i < 0 || i >= size) throw std::runtime_error("an index is out of range");
  return i;
}

namespace {

// Of each axis of x, if it is indexed. A mask stands for the positions that it marks, along each of its axes.
std::vector<std::optional<Array>> indices_of(Call& op) {
  std::vector<std::optional<Array>> out;
  for (u32 item = 0; item < op.items(1); ++item) {
    if (op.item_is_null(1, item)) {
      out.emplace_back();
      continue;
    }
    const Array& given = op.item(1, item);
    if (given.dtype != DType::boolean) {
      out.push_back(given);
      continue;
    }
    std::vector<Array> marked(given.dims.size(), Array(DType::i64, {0}));
    each(given.dims, [&](const Dims& index, i64 i) {
      for (size_t a = 0; given.data[size_t(i)] != 0 && a < marked.size(); ++a) {
        marked[a].data.push_back(f64(index[a]));
        ++marked[a].dims[0];
      }
    });
    out.insert(out.end(), marked.begin(), marked.end());
  }
  return out;
}

}  // namespace

Places places_of(Call& op) {
  const Array& x = op.tensor(0);
  const std::vector<std::optional<Array>> indices = indices_of(op);
  Dims shape;
  std::vector<bool> indexed(x.dims.size());
  size_t first = x.dims.size(), last = 0, number = 0;
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    if (!indices[axis]) continue;
    shape = broadcast(shape, indices[axis]->dims);
    indexed.at(axis) = true;
    first = std::min(first, axis), last = axis, ++number;
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
      const i64 i = indexed[axis] ? checked(at(*indices[axis], chosen), x.dims[axis], true) : index[next++];
      offset += i * strides[axis];
    }
    out.all.push_back(size_t(offset));
  });
  return out;
}

}  // namespace pteron::reference
