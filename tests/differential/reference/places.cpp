// SPDX-License-Identifier: BSD-3-Clause
#include "differential/reference/places.h"

#include <algorithm>
#include <stdexcept>

namespace pteron::reference {

i64 checked(f64 index, i64 size, bool negative) {
  i64 i = i64(index);
  if (negative && i < 0) i += size;
  if (i < 0 || i >= size) throw std::runtime_error("an index is out of range");
  return i;
}

Places places_of(Call& op) {
  const Array& x = op.tensor(0);
  Dims shape;
  std::vector<bool> indexed(x.dims.size());
  size_t first = x.dims.size(), last = 0, number = 0;
  for (u32 axis = 0; axis < op.items(1); ++axis) {
    if (op.item_is_null(1, axis)) continue;
    if (op.item(1, axis).dtype == DType::boolean) throw std::runtime_error("the reference does not index by masks");
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

}  // namespace pteron::reference
