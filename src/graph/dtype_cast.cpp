// SPDX-License-Identifier: BSD-3-Clause
#include "graph/dtype_cast.h"

#include "base/half.h"

#include <cstring>

namespace pteron::graph {
namespace {

// Elements may be unaligned in a file, so they are moved with memcpy.
template <class From, class To, class Fn>
void each(Bytes from, MutableBytes to, Fn fn) {
  const u64 count = from.size() / sizeof(From);
  for (u64 i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from.data() + i * sizeof(From), sizeof(From));
    const To converted = To(fn(value));
    std::memcpy(to.data() + i * sizeof(To), &converted, sizeof(To));
  }
}

Status narrow(Bytes from, MutableBytes to) {
  const u64 count = from.size() / sizeof(i64);
  for (u64 i = 0; i < count; ++i) {
    i64 value;
    std::memcpy(&value, from.data() + i * sizeof(i64), sizeof value);
    if (value < INT32_MIN || value > INT32_MAX)
      return invalid("element ", i, " is ", value, ", which does not fit in 32 bits; the GPU computes with int32");
    const i32 narrow = i32(value);
    std::memcpy(to.data() + i * sizeof(i32), &narrow, sizeof narrow);
  }
  return {};
}

constexpr u32 pair(DType a, DType b) { return u32(a) << 8 | u32(b); }

}  // namespace

bool can_convert(DType from, DType to) {
  if (from == to) return true;
  switch (pair(from, to)) {
    case pair(DType::i64, DType::i32):
    case pair(DType::i32, DType::i64):
    case pair(DType::f64, DType::f32):
    case pair(DType::f32, DType::f64):
    case pair(DType::f32, DType::f16):
    case pair(DType::f16, DType::f32):
    case pair(DType::f64, DType::f16):
    case pair(DType::f16, DType::f64): return true;
    default: return false;
  }
}

Status convert(Bytes from, DType from_type, MutableBytes to, DType to_type) {
  if (from.size() / size_of(from_type) != to.size() / size_of(to_type))
    return internal_error("a conversion of ", from.size(), " bytes of ", from_type, " to ", to.size(), " bytes of ",
                          to_type);
  if (from_type == to_type) {
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
    return {};
  }
  switch (pair(from_type, to_type)) {
    case pair(DType::i64, DType::i32): return narrow(from, to);
    case pair(DType::i32, DType::i64): each<i32, i64>(from, to, [](i32 v) { return v; }); return {};
    case pair(DType::f64, DType::f32): each<f64, f32>(from, to, [](f64 v) { return f32(v); }); return {};
    case pair(DType::f32, DType::f64): each<f32, f64>(from, to, [](f32 v) { return v; }); return {};
    case pair(DType::f32, DType::f16): each<f32, u16>(from, to, [](f32 v) { return float_to_half(v); }); return {};
    case pair(DType::f16, DType::f32): each<u16, f32>(from, to, [](u16 v) { return half_to_float(v); }); return {};
    case pair(DType::f64, DType::f16): each<f64, u16>(from, to, [](f64 v) { return float_to_half(f32(v)); }); return {};
    case pair(DType::f16, DType::f64): each<u16, f64>(from, to, [](u16 v) { return half_to_float(v); }); return {};
    default: return invalid(from_type, " can't be converted to ", to_type);
  }
}

i64 element_as_integer(Bytes bytes, DType type, u64 index) {
  const std::byte* at = bytes.data() + index * size_of(type);
  const auto get = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
    case DType::boolean:
    case DType::u8: return get(u8());
    case DType::i8: return get(i8());
    case DType::i32: return get(i32());
    case DType::i64: return get(i64());
    default: return 0;  // nobody asks
  }
}

}  // namespace pteron::graph
