// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/types.h>

#include <optional>
#include <string_view>

namespace pteron {

enum class DType : u8 { boolean, u8, i8, i32, f16, f32, f64, i64 };

constexpr u32 size_of(DType t) {
  switch (t) {
    case DType::boolean:
    case DType::u8:
    case DType::i8: return 1;
    case DType::f16: return 2;
    case DType::i32:
    case DType::f32: return 4;
    case DType::f64:
    case DType::i64: return 8;
  }
  return 0;
}

// The names that NumPy uses: "float32", "int64", "bool", …
constexpr std::string_view name_of(DType t) {
  switch (t) {
    case DType::boolean: return "bool";
    case DType::u8: return "uint8";
    case DType::i8: return "int8";
    case DType::i32: return "int32";
    case DType::f16: return "float16";
    case DType::f32: return "float32";
    case DType::f64: return "float64";
    case DType::i64: return "int64";
  }
  return "unknown";
}

constexpr std::optional<DType> dtype_named(std::string_view name) {
  for (int i = 0; i <= int(DType::i64); ++i)
    if (name_of(DType(i)) == name) return DType(i);
  return std::nullopt;
}

constexpr bool is_float(DType t) { return t == DType::f16 || t == DType::f32 || t == DType::f64; }

}  // namespace pteron
