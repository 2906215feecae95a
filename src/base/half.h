// SPDX-License-Identifier: BSD-3-Clause
// IEEE half precision on the host.
#pragma once

#include <pteron/types.h>

#include <bit>

namespace pteron {

constexpr f32 half_to_float(u16 h) {
  const u32 sign = u32(h & 0x8000) << 16;
  const u32 exponent = (h >> 10) & 31, mantissa = h & 0x3FF;
  if (exponent == 31) return std::bit_cast<f32>(sign | 0x7F80'0000 | mantissa << 13);
  if (exponent == 0) {
    const f32 value = f32(mantissa) * 0x1p-24f;
    return sign ? -value : value;
  }
  return std::bit_cast<f32>(sign | (exponent + 112) << 23 | mantissa << 13);
}

// Rounds to nearest, ties to even.
constexpr u16 float_to_half(f32 value) {
  const u32 bits = std::bit_cast<u32>(value);
  const u16 sign = u16(bits >> 16 & 0x8000);
  const u32 magnitude = bits & 0x7FFF'FFFF;
  if (magnitude > 0x7F80'0000) return sign | 0x7E00;   // NaN
  if (magnitude >= 0x477F'F000) return sign | 0x7C00;  // rounds to infinity
  if (magnitude < 0x3880'0000) {                       // subnormal: let the float unit round
    const f32 shifted = std::bit_cast<f32>(magnitude) + 0.5f;
    return sign | u16(std::bit_cast<u32>(shifted) - 0x3F00'0000);
  }
  const u32 rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
  return sign | u16((rounded - 0x3800'0000) >> 13);
}

// Zero, or a number of half precision that no device flushes to zero: not subnormal, not infinite.
constexpr bool is_normal_half(f32 value) {
  const u32 bits = std::bit_cast<u32>(value), magnitude = bits & 0x7FFF'FFFF;
  return magnitude == 0 || ((bits & 0x1FFF) == 0 && magnitude >= 0x3880'0000 && magnitude < 0x4780'0000);
}

}  // namespace pteron
