// SPDX-License-Identifier: BSD-3-Clause
#include "differential/reference/array.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace pteron::reference {
namespace {

f64 half_value(u16 bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const f64 sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// The nearest number with 11 significant bits and no exponent below that of 2^-24.
f64 round_to_half(f64 v) {
  if (!std::isfinite(v) || v == 0) return v;
  int exponent = 0;
  std::frexp(v, &exponent);
  const int unit = std::max(exponent - 11, -24);
  const f64 rounded = std::ldexp(std::nearbyint(std::ldexp(v, -unit)), unit);
  return std::abs(rounded) > 65504 ? std::copysign(INFINITY, v) : rounded;
}

u16 half_bits(f64 value) {
  const f64 v = round_to_half(value);
  const u16 sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isnan(v)) return 0x7e00;
  if (std::isinf(v)) return u16(sign | 0x7c00);
  int exponent = 0;
  std::frexp(v, &exponent);
  if (v == 0 || exponent < -13) return u16(sign | u16(std::ldexp(std::abs(v), 24)));
  return u16(sign | (exponent + 14) << 10 | (u16(std::ldexp(std::abs(v), 11 - exponent)) & 1023));
}

template <class T>
T load(Bytes bytes, size_t i) {
  T v;
  std::memcpy(&v, bytes.data() + i * sizeof(T), sizeof(T));
  return v;
}

f64 element(DType dtype, Bytes bytes, size_t i) {
  switch (dtype) {
    case DType::boolean: return load<u8>(bytes, i) != 0;
    case DType::u8: return load<u8>(bytes, i);
    case DType::i8: return load<i8>(bytes, i);
    case DType::i32: return load<i32>(bytes, i);
    case DType::i64: return f64(load<i64>(bytes, i));
    case DType::f16: return half_value(load<u16>(bytes, i));
    case DType::f32: return load<f32>(bytes, i);
    case DType::f64: return load<f64>(bytes, i);
  }
  return 0;
}

template <class T>
void save(MutableBytes bytes, size_t i, T v) {
  std::memcpy(bytes.data() + i * sizeof(T), &v, sizeof(T));
}

}  // namespace

i64 count(const Dims& dims) {
  i64 n = 1;
  for (i64 d : dims) n *= d;
  return n;
}

Dims dims_of(const Shape& shape) { return Dims(shape.begin(), shape.end()); }

f64 stored(DType dtype, f64 value) {
  switch (dtype) {
    case DType::boolean: return value != 0;
    case DType::u8: return u8(i64(value));
    case DType::i8: return i8(i64(value));
    case DType::i32: return i32(i64(value));
    case DType::f16: return round_to_half(value);
    case DType::f32: return f64(f32(value));
    default: return value;
  }
}

Array decode(DType dtype, const Dims& dims, Bytes bytes) {
  Array out(dtype, dims);
  if (bytes.size() < out.data.size() * size_of(dtype)) throw std::runtime_error("there are too few bytes");
  for (size_t i = 0; i < out.data.size(); ++i) out.data[i] = element(dtype, bytes, i);
  return out;
}

Array from_tensor(const TensorView& tensor) { return decode(tensor.dtype, dims_of(tensor.shape), tensor.bytes); }

Tensor to_tensor(const Array& array, std::optional<DType> dtype) {
  Shape shape;
  for (i64 d : array.dims) shape.push_back(u32(d));
  Tensor out(dtype.value_or(array.dtype), shape);
  for (size_t i = 0; i < array.data.size(); ++i) {
    const f64 v = stored(out.dtype(), array.data[i]);
    switch (out.dtype()) {
      case DType::boolean:
      case DType::u8: save(out.bytes(), i, u8(v)); break;
      case DType::i8: save(out.bytes(), i, i8(v)); break;
      case DType::i32: save(out.bytes(), i, i32(v)); break;
      case DType::i64: save(out.bytes(), i, i64(v)); break;
      case DType::f16: save(out.bytes(), i, half_bits(v)); break;
      case DType::f32: save(out.bytes(), i, f32(v)); break;
      case DType::f64: save(out.bytes(), i, v); break;
    }
  }
  return out;
}

Dims strides_of(const Dims& dims) {
  Dims out(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) out[i - 1] = out[i] * dims[i];
  return out;
}

Dims broadcast(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const i64 x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) throw std::runtime_error("shapes can't be broadcast together");
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

f64 at(const Array& array, const Dims& index) {
  const size_t missing = index.size() - array.dims.size();
  i64 offset = 0;
  for (size_t i = 0; i < array.dims.size(); ++i)
    offset = offset * array.dims[i] + (array.dims[i] == 1 ? 0 : index[missing + i]);
  return array.data[size_t(offset)];
}

}  // namespace pteron::reference
