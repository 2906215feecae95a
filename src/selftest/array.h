// SPDX-License-Identifier: BSD-3-Clause
// Numbers with a shape, for references on the CPU.
#pragma once

#include <pteron/tensor.h>

#include <vector>

namespace pteron::selftest {

struct Array {
  Shape shape;
  std::vector<f64> v;

  explicit Array(const Shape& s) : shape(s), v(s.numel()) {}
  Array(const Shape& s, std::vector<f64> values) : shape(s), v(std::move(values)) {}

  f64& at(std::initializer_list<u32> index) { return v[flat(index)]; }
  f64 at(std::initializer_list<u32> index) const { return v[flat(index)]; }
  size_t size() const { return v.size(); }
  Tensor to(DType dtype) const;

 private:
  size_t flat(std::initializer_list<u32> index) const;
};

f64 element(const Tensor& tensor, u64 i);

// Numbers that float16 holds exactly, so that every device computes with the same ones.
Array random(const Shape& shape, f64 low = -2, f64 high = 2);
// Whole numbers from `low` to `high`, both included.
Array integers(const Shape& shape, i64 low, i64 high);

template <class F>
Array map(const Array& a, F function) {
  Array out(a.shape);
  for (size_t i = 0; i < a.size(); ++i) out.v[i] = function(a.v[i]);
  return out;
}

Array transpose(const Array& a);                // of a matrix
Array product(const Array& a, const Array& b);  // of matrices

}  // namespace pteron::selftest
