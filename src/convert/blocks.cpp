// SPDX-License-Identifier: BSD-3-Clause
#include "convert/blocks.h"

#include "base/half.h"

#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace pteron::convert {
namespace {

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
f32 half_at(const std::byte* at) { return half_to_float(load<u16>(at)); }
i32 low(std::byte b) { return i32(b) & 15; }
i32 high(std::byte b) { return i32(b) >> 4; }

f32 f32_number(const std::byte* at) { return load<f32>(at); }
f32 f16_number(const std::byte* at) { return half_at(at); }
f32 bf16_number(const std::byte* at) { return std::bit_cast<f32>(u32(load<u16>(at)) << 16); }

// --- blocks of 32: byte j holds value j in its low half and value j + 16 in its high half

template <bool five_bits>
void nibbles(const std::byte* packed, u32 fifth_bits, i8* q) {
  constexpr i32 middle = five_bits ? 16 : 8;
  for (u32 j = 0; j < 16; ++j) {
    q[j] = i8((low(packed[j]) | i32(fifth_bits >> j & 1) << 4) - middle);
    q[j + 16] = i8((high(packed[j]) | i32(fifth_bits >> (j + 16) & 1) << 4) - middle);
  }
}

void q4_0(const std::byte* block, i8* q, f32* scales, f32*) {
  scales[0] = half_at(block);
  nibbles<false>(block + 2, 0, q);
}

void q4_1(const std::byte* block, i8* q, f32* scales, f32* minima) {
  scales[0] = half_at(block);
  minima[0] = half_at(block + 2);
  nibbles<false>(block + 4, 0, q);
}

void q5_0(const std::byte* block, i8* q, f32* scales, f32*) {
  scales[0] = half_at(block);
  nibbles<true>(block + 6, load<u32>(block + 2), q);
}

void q5_1(const std::byte* block, i8* q, f32* scales, f32* minima) {
  scales[0] = half_at(block);
  minima[0] = half_at(block + 2);
  nibbles<true>(block + 8, load<u32>(block + 4), q);
}

void q8_0(const std::byte* block, i8* q, f32* scales, f32*) {
  scales[0] = half_at(block);
  std::memcpy(q, block + 2, 32);
}

// --- blocks of 256

// Eight 6-bit scales and eight 6-bit minima in twelve bytes: the first four of each in the low bits of bytes 0…3 and
// 4…7; the others have their low four bits in bytes 8…11 and their high two bits above the first ones.
void packed_scales(const std::byte* block, f32* scales, f32* minima) {
  const f32 d = half_at(block), d_min = half_at(block + 2);
  const std::byte* packed = block + 4;
  for (u32 i = 0; i < 8; ++i) {
    u32 scale = 0, minimum = 0;
    if (i < 4) {
      scale = u32(packed[i]) & 63;
      minimum = u32(packed[i + 4]) & 63;
    } else {
      scale = (u32(packed[i + 4]) & 15) | u32(packed[i - 4]) >> 6 << 4;
      minimum = u32(packed[i + 4]) >> 4 | u32(packed[i]) >> 6 << 4;
    }
    scales[i] = d * f32(scale);
    minima[i] = -d_min * f32(minimum);
  }
}

// 32 bytes hold the values of two groups: the first in the low halves, the second in the high ones.
void q4_k(const std::byte* block, i8* q, f32* scales, f32* minima) {
  packed_scales(block, scales, minima);
  const std::byte* packed = block + 16;
  for (u32 pair = 0; pair < 4; ++pair, packed += 32, q += 64)
    for (u32 j = 0; j < 32; ++j) {
      q[j] = i8(low(packed[j]) - 8);
      q[j + 32] = i8(high(packed[j]) - 8);
    }
}

// As above; bit g of fifth[j] belongs to value j of group g.
void q5_k(const std::byte* block, i8* q, f32* scales, f32* minima) {
  packed_scales(block, scales, minima);
  const std::byte* fifth = block + 16;
  const std::byte* packed = block + 48;
  for (u32 pair = 0; pair < 4; ++pair, packed += 32, q += 64)
    for (u32 j = 0; j < 32; ++j) {
      const u32 bits = u32(fifth[j]) >> (2 * pair);
      q[j] = i8((low(packed[j]) | i32(bits & 1) << 4) - 16);
      q[j + 32] = i8((high(packed[j]) | i32(bits >> 1 & 1) << 4) - 16);
    }
}

// Each half of 128 values is four runs of 32, whose low four bits share 64 bytes and whose high two bits share 32.
void q6_k(const std::byte* block, i8* q, f32* scales, f32*) {
  const std::byte* four = block;
  const std::byte* two = block + 128;
  for (u32 half = 0; half < 2; ++half, four += 64, two += 32, q += 128)
    for (u32 j = 0; j < 32; ++j) {
      const i32 top = i32(two[j]);
      q[j] = i8((low(four[j]) | (top & 3) << 4) - 32);
      q[j + 32] = i8((low(four[j + 32]) | (top >> 2 & 3) << 4) - 32);
      q[j + 64] = i8((high(four[j]) | (top >> 4 & 3) << 4) - 32);
      q[j + 96] = i8((high(four[j + 32]) | (top >> 6 & 3) << 4) - 32);
    }
  const f32 d = half_at(block + 208);
  for (u32 i = 0; i < 16; ++i) scales[i] = d * f32(load<i8>(block + 192 + i));
}

constexpr BlockFormat formats[] = {
    {0, "F32", 1, 4, 0, 0, 0, 0, nullptr, f32_number},
    {1, "F16", 1, 2, 0, 0, 0, 0, nullptr, f16_number},
    {30, "BF16", 1, 2, 0, 0, 0, 0, nullptr, bf16_number},
    {2, "Q4_0", 32, 18, 32, -8, 7, 0, q4_0},
    {3, "Q4_1", 32, 20, 32, -8, 7, 8, q4_1},
    {6, "Q5_0", 32, 22, 32, -16, 15, 0, q5_0},
    {7, "Q5_1", 32, 24, 32, -16, 15, 16, q5_1},
    {8, "Q8_0", 32, 34, 32, -128, 127, 0, q8_0},
    {12, "Q4_K", 256, 144, 32, -8, 7, 8, q4_k},
    {13, "Q5_K", 256, 176, 32, -16, 15, 16, q5_k},
    {14, "Q6_K", 256, 210, 16, -32, 31, 0, q6_k},
};

// Names of types that exist and are not supported, for messages.
std::string unsupported_name(u32 type) {
  struct Name {
    u32 type;
    std::string_view name;
  };
  static constexpr Name names[] = {
      {9, "Q8_1"},   {10, "Q2_K"},   {11, "Q3_K"},  {15, "Q8_K"},  {16, "IQ2_XXS"}, {17, "IQ2_XS"}, {18, "IQ3_XXS"},
      {19, "IQ1_S"}, {20, "IQ4_NL"}, {21, "IQ3_S"}, {22, "IQ2_S"}, {23, "IQ4_XS"},  {24, "I8"},     {25, "I16"},
      {26, "I32"},   {27, "I64"},    {28, "F64"},   {29, "IQ1_M"}, {34, "TQ1_0"},   {35, "TQ2_0"},  {39, "MXFP4"}};
  for (const Name& n : names)
    if (n.type == type) return std::string(n.name);
  return str("number ", type);
}

}  // namespace

Result<const BlockFormat*> block_format(u32 type) {
  std::vector<std::string_view> known;
  for (const BlockFormat& format : formats) {
    if (format.type == type) return &format;
    known.push_back(format.name);
  }
  return unsupported("the type ", unsupported_name(type), " is not supported; convert the model to one of ",
                     join(known));
}

void dequantize(const BlockFormat& format, Bytes blocks, std::span<f32> out) {
  const u64 count = out.size() / format.values;
  if (format.group == 0) {
    for (u64 i = 0; i < count; ++i) out[i] = format.number(blocks.data() + i * format.bytes);
    return;
  }
  std::array<i8, 256> q;
  std::array<f32, 16> scales, minima{};
  for (u64 i = 0; i < count; ++i) {
    format.integers(blocks.data() + i * format.bytes, q.data(), scales.data(), minima.data());
    for (u32 j = 0; j < format.values; ++j)
      out[i * format.values + j] = scales[j / format.group] * f32(q[j] + format.shift) + minima[j / format.group];
  }
}

}  // namespace pteron::convert
