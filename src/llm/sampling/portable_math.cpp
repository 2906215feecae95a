// SPDX-License-Identifier: BSD-3-Clause
#include "llm/sampling/portable_math.h"

#include <array>
#include <bit>

namespace pteron::sampling {
namespace {

// As many terms of the exponential's series as count for |r| <= ln 2 / 2.
constexpr auto inverse_factorials = [] {
  std::array<f64, 14> terms{};
  f64 factorial = 1;
  for (size_t n = 0; n < terms.size(); ++n) {
    if (n > 0) factorial *= f64(n);
    terms[n] = 1 / factorial;
  }
  return terms;
}();

}  // namespace

f64 portable_exp(f64 x) {
  if (!(x > -708)) return 0;
  // x = k ln 2 + r with |r| <= ln 2 / 2; ln 2 in two parts so that k ln 2 is exact in the first.
  constexpr f64 ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33, inverse_ln2 = 0x1.71547652b82fep+0;
  const i32 k = i32(x * inverse_ln2 - 0.5);
  const f64 r = (x - f64(k) * ln2_high) - f64(k) * ln2_low;
  f64 sum = 0;
  for (size_t n = inverse_factorials.size(); n-- > 0;) sum = inverse_factorials[n] + sum * r;
  return sum * std::bit_cast<f64>(u64(k + 1023) << 52);
}

f64 portable_uniform(u64 seed, u64 index) {
  u64 z = seed + (index + 1) * 0x9E37'79B9'7F4A'7C15;
  z = (z ^ z >> 30) * 0xBF58'476D'1CE4'E5B9;
  z = (z ^ z >> 27) * 0x94D0'49BB'1331'11EB;
  z ^= z >> 31;
  return f64(z >> 11) * 0x1p-53;
}

}  // namespace pteron::sampling
