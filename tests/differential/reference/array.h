// SPDX-License-Identifier: BSD-3-Clause
// Tensors of the reference interpreter: every element is an f64 that holds a value its dtype has. Nothing here is
// shared with the engine, so that a mistake in one is no mistake in the other.
#pragma once

#include <pteron/tensor.h>

#include <vector>

namespace pteron::reference {

using Dims = std::vector<i64>;

i64 count(const Dims& dims);
Dims dims_of(const Shape& shape);

struct Array {
  DType dtype = DType::f32;
  Dims dims;
  std::vector<f64> data;

  Array() = default;
  Array(DType type, Dims sizes) : dtype(type), dims(std::move(sizes)), data(size_t(count(dims))) {}
  i64 size() const { return i64(data.size()); }
  i64 rank() const { return i64(dims.size()); }
  // Counts from the back when negative; axes that are not there have size 1.
  i64 dim(i64 axis) const {
    if (axis < 0) axis += rank();
    return axis >= 0 && axis < rank() ? dims[size_t(axis)] : 1;
  }
};

// The nearest value that a dtype has: floats round to even, integers wrap around, anything but 0 is true.
f64 stored(DType dtype, f64 value);

Array decode(DType dtype, const Dims& dims, Bytes bytes);
Array from_tensor(const TensorView& tensor);
// In another dtype if one is given.
Tensor to_tensor(const Array& array, std::optional<DType> dtype = {});

// Row-major steps between elements.
Dims strides_of(const Dims& dims);
Dims broadcast(const Dims& a, const Dims& b);
// The element of an array that is repeated up to the rank of `index` and along axes of size 1.
f64 at(const Array& array, const Dims& index);

// Calls fn(index, i) for each element in row-major order.
template <class Fn>
void each(const Dims& dims, Fn fn) {
  const i64 total = count(dims);
  Dims index(dims.size(), 0);
  for (i64 i = 0; i < total; ++i) {
    fn(static_cast<const Dims&>(index), i);
    for (size_t axis = dims.size(); axis-- > 0;) {
      if (++index[axis] < dims[axis]) break;
      index[axis] = 0;
    }
  }
}

}  // namespace pteron::reference
