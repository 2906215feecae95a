// SPDX-License-Identifier: BSD-3-Clause
// Tensors on the host: row-major, contiguous.
#pragma once

#include <pteron/dtype.h>
#include <pteron/shape.h>

#include <cstring>
#include <vector>

namespace pteron {

// Someone else's bytes, to be read.
struct TensorView {
  DType dtype = DType::f32;
  Shape shape;
  Bytes bytes;
};

class Tensor {
 public:
  Tensor() = default;
  // All zeros.
  Tensor(DType dtype, const Shape& shape) { reshape(dtype, shape); }

  // An error unless these are exactly as many bytes as the shape needs.
  template <class T>
  static Result<Tensor> of(DType dtype, const Shape& shape, std::span<const T> values) {
    return from_bytes(dtype, shape, std::as_bytes(values));
  }
  static Result<Tensor> from_bytes(DType dtype, const Shape& shape, Bytes bytes);
  static Tensor scalar(i64 value) { return number(DType::i64, value); }
  static Tensor scalar(f64 value) { return number(DType::f64, value); }
  static Tensor scalar(bool value) { return number(DType::boolean, value); }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  u64 numel() const { return shape_.numel(); }
  MutableBytes bytes() { return storage_; }
  Bytes bytes() const { return storage_; }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(storage_.data()), storage_.size() / sizeof(T)};
  }
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(storage_.data()), storage_.size() / sizeof(T)};
  }
  TensorView view() const { return {dtype_, shape_, storage_}; }
  operator TensorView() const { return view(); }

  // Keeps its memory when the new size is not larger.
  void reshape(DType dtype, const Shape& shape) {
    dtype_ = dtype;
    shape_ = shape;
    storage_.resize(shape.numel() * size_of(dtype));
  }

 private:
  template <class T>
  static Tensor number(DType dtype, T value) {
    Tensor out(dtype, Shape{});
    std::memcpy(out.storage_.data(), &value, sizeof value);
    return out;
  }

  DType dtype_ = DType::f32;
  Shape shape_;
  std::vector<std::byte> storage_;
};

}  // namespace pteron
