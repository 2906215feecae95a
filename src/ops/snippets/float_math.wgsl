// What expressions call where V is f32. WGSL lets a compiler assume that NaN and infinity don't occur, so everything that
// depends on them looks at bits.
fn magnitude_bits(a: f32) -> u32 { return bitcast<u32>(a) & 0x7fffffffu; }
fn is_nan(a: f32) -> bool { return magnitude_bits(a) > 0x7f800000u; }
fn is_finite(a: f32) -> bool { return magnitude_bits(a) < 0x7f800000u; }
// A call, because an expression that is constant must not be infinite or NaN.
fn from_bits(bits: u32) -> f32 { return bitcast<f32>(bits); }
fn infinity() -> f32 { return from_bits(0x7f800000u); }
fn nan() -> f32 { return from_bits(0x7fc00000u); }
// `value`, a function of a for which NaN may get lost.
fn keep_nan(a: f32, value: f32) -> f32 { return select(value, a, is_nan(a)); }

fn minimum(a: f32, b: f32) -> f32 { return keep_nan(a, keep_nan(b, min(a, b))); }
fn maximum(a: f32, b: f32) -> f32 { return keep_nan(a, keep_nan(b, max(a, b))); }
// NaN is true; so are numbers that are too small for arithmetic.
fn truth(a: f32) -> bool { return magnitude_bits(a) != 0u; }
fn is_infinite(a: f32) -> bool { return magnitude_bits(a) == 0x7f800000u; }

// Numbers too large for a fraction are whole.
fn whole_below(a: f32) -> f32 { return keep_nan(a, floor(a)); }
fn whole_above(a: f32) -> f32 { return keep_nan(a, ceil(a)); }
fn whole_part(a: f32) -> f32 { return keep_nan(a, trunc(a)); }
fn whole_nearest(a: f32) -> f32 { return keep_nan(a, round(a)); }
fn direction(a: f32) -> f32 {
  return select(select(1.0, -1.0, (bitcast<u32>(a) >> 31u) != 0u), 0.0, is_nan(a) || !truth(a));
}

// Rounds towards zero and saturates; NaN gives 0.
fn to_integer(a: f32) -> i32 {
  if (is_nan(a)) {
    return 0;
  }
  let inside = i32(clamp(a, -2147483648.0, 2147483520.0));
  return select(inside, 2147483647, a >= 2147483648.0);
}

// The exact remainder of a / b with a's sign: mantissas are divided as integers, eight bits at a time.
fn remainder(a: f32, b: f32) -> f32 {
  let x = magnitude_bits(a);
  let y = magnitude_bits(b);
  if (!is_finite(a) || is_nan(b) || y == 0u) {
    return nan();
  }
  if (x < y) {
    return a;
  }
  let exponent = max(y >> 23u, 1u);
  let divisor = (y & 0x7fffffu) | select(0u, 0x800000u, y > 0x7fffffu);
  var rest = ((x & 0x7fffffu) | select(0u, 0x800000u, x > 0x7fffffu)) % divisor;
  var shift = max(x >> 23u, 1u) - exponent;
  while (shift > 0u && rest > 0u) {
    let bits = min(shift, 8u);
    rest = (rest << bits) % divisor;
    shift -= bits;
  }
  if (rest == 0u) {
    return 0.0;
  }
  let up = min(countLeadingZeros(rest) - 8u, exponent - 1u);
  let mantissa = rest << up;
  let scaled = select(mantissa, (mantissa & 0x7fffffu) | ((exponent - up) << 23u), mantissa > 0x7fffffu);
  return from_bits(scaled | (bitcast<u32>(a) & 0x80000000u));
}

// The same with b's sign, as Python has it.
fn modulo(a: f32, b: f32) -> f32 {
  let rest = remainder(a, b);
  return select(rest, rest + b, rest != 0.0 && (rest < 0.0) != (b < 0.0));
}

// The quotient is rounded to a whole number where it is known to be one: a GPU's division may be a little off.
fn div_trunc(a: f32, b: f32) -> f32 {
  let q = a / b;
  return select(trunc(q), round(q), remainder(a, b) == 0.0 && b != 0.0);
}
fn div_floor(a: f32, b: f32) -> f32 {
  if (b == 0.0) {
    return a / b;
  }
  let rest = remainder(a, b);
  let q = (a - rest) / b;
  return round(q - select(0.0, 1.0, rest != 0.0 && (b < 0.0) != (rest < 0.0)));
}

fn power_of_magnitude(m: f32, b: f32, whole: bool) -> f32 {
  if (m == 0.0 || !is_finite(m)) {
    return select(0.0, infinity(), (m == 0.0) == (b < 0.0));
  }
  if (!is_finite(b)) {
    return select(select(0.0, infinity(), (m > 1.0) == (b > 0.0)), 1.0, m == 1.0);
  }
  if (!whole || abs(b) > 32.0) {
    return exp2(b * log2(m));
  }
  var result = 1.0;
  var factor = m;
  for (var rest = u32(abs(b)); rest > 0u; rest >>= 1u) {
    if ((rest & 1u) != 0u) {
      result *= factor;
    }
    factor *= factor;
  }
  return select(result, 1.0 / result, b < 0.0);
}

// C's pow: a negative base has whole powers only.
fn power(a: f32, b: f32) -> f32 {
  if (b == 0.0 || a == 1.0) {
    return 1.0;
  }
  if (is_nan(a) || is_nan(b)) {
    return nan();
  }
  let whole = floor(b) == b || !is_finite(b);
  if (a < 0.0 && !whole && is_finite(a)) {
    return nan();
  }
  let odd = whole && abs(b) < 16777216.0 && (i32(b) & 1) != 0;
  let m = power_of_magnitude(abs(a), b, whole);
  return select(m, -m, odd && (bitcast<u32>(a) >> 31u) != 0u);
}

fn sigmoid(a: f32) -> f32 { return keep_nan(a, 1.0 / (1.0 + exp(-clamp(a, -88.0, 88.0)))); }
// Beyond 15 it is 1; a driver's tanh may overflow.
fn safe_tanh(a: f32) -> f32 { return keep_nan(a, tanh(clamp(a, -15.0, 15.0))); }

fn logarithm10(a: f32) -> f32 {
  let positive = select(log2(a) * 0.30103, a, !is_finite(a));
  return keep_nan(a, select(select(positive, -infinity(), a == 0.0), nan(), a < 0.0));
}

// a · Φ(a); the tail of Φ by formula 7.1.26 of Abramowitz and Stegun.
fn gelu(a: f32) -> f32 {
  let z = abs(a) * 0.70710678;
  let t = 1.0 / (1.0 + 0.3275911 * z);
  let series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  let tail = 0.5 * series * exp(-z * z);
  return a * select(tail, 1.0 - tail, a >= 0.0);
}
fn gelu_tanh(a: f32) -> f32 {
  return 0.5 * a * (1.0 + safe_tanh(0.7978845608 * (a + 0.044715 * a * a * a)));
}
