// SPDX-License-Identifier: BSD-3-Clause
#include "convert/fit_q4.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace pteron::convert {
namespace {

// Four numbers at once, on every CPU.
constexpr u32 lanes = 4;
using Lanes = f32 __attribute__((vector_size(lanes * sizeof(f32))));

Lanes load(const f32* from) {
  Lanes out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

f32 total(Lanes x) { return (x[0] + x[1]) + (x[2] + x[3]); }

// −8…7, rounded to nearest, ties to even.
Lanes quantize(Lanes numbers, f32 inverse) {
  constexpr f32 magic = 12582912;  // 1.5 · 2^23: floats around it are 1 apart, so adding it rounds
  constexpr Lanes lowest{-8, -8, -8, -8}, highest{7, 7, 7, 7};
  const Lanes q = (numbers * inverse + magic) - magic;
  const Lanes above = q < lowest ? lowest : q;
  return above > highest ? highest : above;
}

struct Sums {
  f32 wq = 0, qq = 0;
  // How much of Σ w² the best scale for these integers, wq / qq, explains.
  f32 explained() const { return qq > 0 ? wq * wq / qq : 0; }
};

Sums sums_at(const f32* numbers, f32 inverse) {
  Lanes wq{}, qq{};
  for (u32 i = 0; i < q4_group; i += lanes) {
    const Lanes w = load(numbers + i), q = quantize(w, inverse);
    wq += w * q;
    qq += q * q;
  }
  return {total(wq), total(qq)};
}

constexpr u8 roundings = 17;

f32 extreme_of(std::span<const f32, q4_group> numbers) {
  return *std::max_element(numbers.begin(), numbers.end(), [](f32 a, f32 b) { return std::abs(a) < std::abs(b); });
}

// 1 / scale of a rounding, or 0 if the group is 0 for all purposes: a subnormal extreme has no finite inverse.
f32 inverse_of(f32 extreme, u8 rounding) {
  return std::abs(extreme) < 1e-30f ? 0 : -(6 + 0.25f * f32(rounding)) / extreme;
}

}  // namespace

u8 best_q4_rounding(std::span<const f32, q4_group> numbers) {
  u8 best = 0;
  f32 explained = 0;
  const f32 extreme = extreme_of(numbers);
  for (u8 rounding = 0; rounding < roundings; ++rounding) {
    const f32 candidate = sums_at(numbers.data(), inverse_of(extreme, rounding)).explained();
    if (candidate > explained) explained = candidate, best = rounding;
  }
  return best;
}

f32 quantize_q4(std::span<const f32, q4_group> numbers, u8 rounding, std::span<i8, q4_group> q) {
  const f32 inverse = inverse_of(extreme_of(numbers), rounding);
  for (u32 i = 0; i < q4_group; i += lanes) {
    const Lanes rounded = quantize(load(numbers.data() + i), inverse);
    for (u32 lane = 0; lane < lanes; ++lane) q[i + lane] = i8(rounded[lane]);
  }
  const Sums sums = sums_at(numbers.data(), inverse);
  return sums.qq > 0 ? sums.wq / sums.qq : 0;
}

}  // namespace pteron::convert
