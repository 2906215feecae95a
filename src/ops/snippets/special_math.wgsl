// Functions of real numbers that WGSL has none for, or one that may be far off. Expressions that call them begin with
// special_. The snippet float_math stands in front of it.

// log((1 + s) / (1 - s)) for |s| ≤ 0.25.
fn special_series(s: f32) -> f32 {
  let z = s * s;
  return 2.0 * s * (1.0 + z * (0.33333333 + z * (0.2 + z * (0.14285714 + z * (0.11111111 + z * 0.09090909)))));
}

// a = m · 2ᵉ with m around 1: e, and the logarithm of m. a is positive, finite and not smaller than 2⁻¹²⁶.
fn special_split(a: f32) -> vec2f {
  let e = bitcast<i32>(bitcast<u32>(a) - 0x3f3504f3u) >> 23u;
  let m = from_bits(bitcast<u32>(a) - (u32(e) << 23u));
  return vec2f(f32(e), special_series((m - 1.0) / (m + 1.0)));
}

// e · whole + log(m) · part: the logarithm to the base for which 2 has `whole` and e has `part`.
fn special_logarithm(a: f32, whole: f32, part: f32) -> f32 {
  if (is_nan(a)) {
    return a;
  }
  let bits = magnitude_bits(a);
  if (bits == 0u) {
    return -infinity();
  }
  if (a < 0.0 || bits != bitcast<u32>(a)) {
    return nan();
  }
  if (!is_finite(a)) {
    return a;
  }
  let tiny = bits < 0x800000u;  // a whole number of 2⁻¹⁴⁹; arithmetic may take it for 0
  let parts = special_split(select(a, f32(bits), tiny));
  return (parts.x - select(0.0, 149.0, tiny)) * whole + parts.y * part;
}
fn special_log(a: f32) -> f32 { return special_logarithm(a, 0.69314718, 1.0); }
fn special_log2(a: f32) -> f32 { return special_logarithm(a, 1.0, 1.44269504); }
fn special_log1p(a: f32) -> f32 {
  if (abs(a) < 0.4) {
    return select(special_series(a / (2.0 + a)), a, abs(a) < 1.0e-5);
  }
  return special_log(1.0 + a);
}

fn special_expm1(a: f32) -> f32 {
  if (abs(a) < 0.5) {
    return a * (1.0 + a * 0.5 * (1.0 + a * 0.33333333 * (1.0 + a * 0.25 * (1.0 + a * 0.2 * (1.0 + a * 0.16666667 * (1.0 + a * 0.14285714))))));
  }
  return keep_nan(a, exp(a) - 1.0);
}

// exp(|a|) / 2, which overflows later than exp(|a|).
fn special_half_exp(a: f32) -> f32 { return exp(abs(a) - 0.69314718); }
fn special_sinh(a: f32) -> f32 {
  let z = a * a;
  let near = a * (1.0 + z * 0.16666667 * (1.0 + z * 0.05 * (1.0 + z * 0.023809524)));
  let e = special_half_exp(a);
  let far = e - 0.25 / e;
  return keep_nan(a, select(select(far, -far, a < 0.0), near, abs(a) < 0.7));
}
fn special_cosh(a: f32) -> f32 {
  let e = special_half_exp(a);
  return keep_nan(a, e + 0.25 / e);
}

fn special_asinh(a: f32) -> f32 {
  let m = abs(a);
  if (!is_finite(a)) {
    return a;
  }
  var v: f32;
  if (m < 1.0e8) {
    v = special_log1p(m + m * m / (1.0 + sqrt(1.0 + m * m)));
  } else {
    v = special_log(m) + 0.69314718;
  }
  return select(v, -v, a < 0.0);
}
fn special_acosh(a: f32) -> f32 {
  if (is_nan(a) || a < 1.0) {
    return nan();
  }
  if (a < 1.0e8) {
    let t = a - 1.0;
    return special_log1p(t + sqrt(t * (a + 1.0)));
  }
  return special_log(a) + 0.69314718;
}
fn special_atanh(a: f32) -> f32 {
  let m = abs(a);
  if (is_nan(a) || m > 1.0) {
    return nan();
  }
  var v = infinity();
  if (m < 1.0) {
    v = 0.5 * special_log1p(2.0 * m / (1.0 - m));
  }
  return select(v, -v, a < 0.0);
}

// The angle of a slope from 0 to 1.
fn special_slope(t: f32) -> f32 {
  let steep = t > 0.41421356;
  let r = select(t, (t - 1.0) / (t + 1.0), steep);
  let z = r * r;
  let series = 1.0 + z * (-0.33333333 + z * (0.2 + z * (-0.14285714 + z * (0.11111111 + z * (-0.09090909 + z * (0.07692308 - z * 0.06666667))))));
  return r * series + select(0.0, 0.78539816, steep);
}
fn special_atan2(a: f32, b: f32) -> f32 {
  if (is_nan(a) || is_nan(b)) {
    return nan();
  }
  let low = min(abs(a), abs(b));
  let high = max(abs(a), abs(b));
  var slope = select(0.0, 1.0, !is_finite(low));
  if (is_finite(high) && high > 0.0) {
    slope = low / high;
  }
  var angle = special_slope(slope);
  angle = select(angle, 1.57079633 - angle, abs(a) > abs(b));
  angle = select(angle, 3.14159265 - angle, (bitcast<u32>(b) >> 31u) != 0u);
  return select(angle, -angle, (bitcast<u32>(a) >> 31u) != 0u);
}
fn special_asin(a: f32) -> f32 {
  if (abs(a) > 1.0) {
    return nan();
  }
  return special_atan2(a, sqrt((1.0 - a) * (1.0 + a)));
}
fn special_acos(a: f32) -> f32 {
  if (abs(a) > 1.0) {
    return nan();
  }
  return special_atan2(sqrt((1.0 - a) * (1.0 + a)), a);
}

// Near 0 by its series, else by formula 7.1.26 of Abramowitz and Stegun.
fn special_erf(a: f32) -> f32 {
  let m = min(abs(a), 6.0);
  let z = m * m;
  let near = 1.12837917 * m * (1.0 - z * (0.33333333 - z * (0.1 - z * (0.023809524 - z * 0.0046296296))));
  let t = 1.0 / (1.0 + 0.3275911 * m);
  let series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  let v = select(1.0 - series * exp(-z), near, m < 0.5);
  return keep_nan(a, select(v, -v, a < 0.0));
}

// Word i of 2/π in binary: 32 zeros, then the digits behind the point.
fn special_word(i: u32) -> u32 {
  switch (i) {
    case 1u: { return 0xa2f9836eu; }
    case 2u: { return 0x4e441529u; }
    case 3u: { return 0xfc2757d1u; }
    case 4u: { return 0xf534ddc0u; }
    case 5u: { return 0xdb629599u; }
    case 6u: { return 0x3c439041u; }
    case 7u: { return 0xfe5163abu; }
    default: { return 0u; }
  }
}
// 32 digits of it from digit i on.
fn special_digits(i: u32) -> u32 {
  let at = i & 31u;
  let next = select(special_word((i >> 5u) + 1u) >> ((32u - at) & 31u), 0u, at == 0u);
  return (special_word(i >> 5u) << at) | next;
}
// What m · w has above 32 bits, for m < 2²⁴.
fn special_carry(m: u32, w: u32) -> u32 {
  let low = m & 0xffffu;
  let high = m >> 16u;
  let cross = low * (w >> 16u);
  let middle = ((low * (w & 0xffffu)) >> 16u) + (cross & 0xffffu) + high * (w & 0xffffu);
  return high * (w >> 16u) + (cross >> 16u) + (middle >> 16u);
}

// A number as a whole number of quarter turns and the rest of the angle, at most π/4.
struct SpecialAngle { quarters: i32, rest: f32 }

// Three parts of π/2 of eight bits each, whose multiples are exact, and a fourth.
fn special_near_angle(a: f32) -> SpecialAngle {
  let k = round(a * 0.63661977);
  return SpecialAngle(i32(k), (((a - k * 1.5703125) - k * 0.0004825592041015625) - k * 1.26659870147705e-6) - k * 9.920935796805404e-10);
}
// a = m · 2ˢ with s ≥ −7: of 2/π only the 96 digits count that give neither whole turns nor less than 2⁻⁷⁰.
fn special_far_angle(a: f32) -> SpecialAngle {
  let bits = magnitude_bits(a);
  let m = (bits & 0x7fffffu) | 0x800000u;
  let first = (bits >> 23u) - 120u;
  let w1 = special_digits(first + 32u);
  let below = special_carry(m, special_digits(first + 64u));
  let low = m * w1 + below;
  let high = m * special_digits(first) + special_carry(m, w1) + select(0u, 1u, low < below);
  // Two digits of quarters, then the fraction of one; from a half on, one quarter more and what is missing to it.
  var fraction = vec2u((high << 2u) | (low >> 30u), low << 2u);
  let up = (fraction.x >> 31u) != 0u;
  if (up) {
    fraction = vec2u(~fraction.x + select(0u, 1u, fraction.y == 0u), ~fraction.y + 1u);
  }
  let zeros = min(countLeadingZeros(fraction.x), 31u);
  let digits = (fraction.x << zeros) | ((fraction.y >> 1u) >> (31u - zeros));
  let size = ldexp(f32(digits), -32 - i32(zeros)) * 1.5707964;
  let quarters = i32(high >> 30u) + select(0, 1, up);
  let negative = (bitcast<u32>(a) >> 31u) != 0u;
  return SpecialAngle(select(quarters, -quarters, negative), select(size, -size, negative != up));
}

// sin(a + turns · π/2), by the series near 0.
fn special_wave(a: f32, turns: i32) -> f32 {
  if (!is_finite(a)) {
    return nan();
  }
  var angle: SpecialAngle;
  if (abs(a) < 1.0e5) {
    angle = special_near_angle(a);
  } else {
    angle = special_far_angle(a);
  }
  let r = angle.rest;
  let z = r * r;
  let quadrant = (angle.quarters + turns) & 3;
  let odd = r + r * z * (-0.16666667 + z * (0.0083333333 + z * (-0.00019841270 + z * 2.7557319e-6)));
  let even = 1.0 + z * (-0.5 + z * (0.041666667 + z * (-0.0013888889 + z * (2.4801587e-5 - z * 2.7557319e-7))));
  let v = select(odd, even, (quadrant & 1) != 0);
  return select(v, -v, quadrant >= 2);
}
