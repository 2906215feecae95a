// SPDX-License-Identifier: BSD-3-Clause
#include "selftest/array.h"

#include "base/half.h"

#include <cmath>

namespace pteron::selftest {

size_t Array::flat(std::initializer_list<u32> index) const {
  size_t i = 0;
  u32 axis = 0;
  for (u32 at : index) i = i * shape[axis++] + at;
  return i;
}

Tensor Array::to(DType dtype) const {
  Tensor out(dtype, shape);
  for (size_t i = 0; i < v.size(); ++i) switch (dtype) {
      case DType::boolean:
      case DType::u8: out.as<u8>()[i] = u8(v[i]); break;
      case DType::i8: out.as<i8>()[i] = i8(v[i]); break;
      case DType::i32: out.as<i32>()[i] = i32(v[i]); break;
      case DType::i64: out.as<i64>()[i] = i64(v[i]); break;
      case DType::f16: out.as<u16>()[i] = float_to_half(f32(v[i])); break;
      case DType::f32: out.as<f32>()[i] = f32(v[i]); break;
      case DType::f64: out.as<f64>()[i] = v[i]; break;
    }
  return out;
}

f64 element(const Tensor& tensor, u64 i) {
  switch (tensor.dtype()) {
    case DType::boolean:
    case DType::u8: return tensor.as<u8>()[i];
    case DType::i8: return tensor.as<i8>()[i];
    case DType::i32: return tensor.as<i32>()[i];
    case DType::i64: return f64(tensor.as<i64>()[i]);
    case DType::f16: return half_to_float(tensor.as<u16>()[i]);
    case DType::f32: return tensor.as<f32>()[i];
    case DType::f64: return tensor.as<f64>()[i];
  }
  return 0;
}

namespace {

// The same numbers on every machine; no two arrays of different sizes begin alike.
class Generator {
 public:
  explicit Generator(u64 seed) : state_(seed * 2 + 1) {}
  f64 next() {  // in [0, 1)
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return f64(state_ >> 40) / f64(u64(1) << 24);
  }

 private:
  u64 state_;
};

}  // namespace

Array random(const Shape& shape, f64 low, f64 high) {
  Generator generator(shape.numel() * 31 + shape.rank());
  Array out(shape);
  for (f64& x : out.v) x = half_to_float(float_to_half(f32(low + (high - low) * generator.next())));
  return out;
}

Array integers(const Shape& shape, i64 low, i64 high) {
  Generator generator(shape.numel() * 17 + shape.rank());
  Array out(shape);
  for (f64& x : out.v) x = std::floor(f64(low) + f64(high - low + 1) * generator.next());
  return out;
}

Array transpose(const Array& a) {
  Array out({a.shape[1], a.shape[0]});
  for (u32 i = 0; i < a.shape[0]; ++i)
    for (u32 j = 0; j < a.shape[1]; ++j) out.at({j, i}) = a.at({i, j});
  return out;
}

Array product(const Array& a, const Array& b) {
  Array out({a.shape[0], b.shape[1]});
  for (u32 m = 0; m < a.shape[0]; ++m)
    for (u32 n = 0; n < b.shape[1]; ++n)
      for (u32 k = 0; k < a.shape[1]; ++k) out.at({m, n}) += a.at({m, k}) * b.at({k, n});
  return out;
}

}  // namespace pteron::selftest
