// Eight 4-bit weights of a column times x: k = 0, 2, 4, 6 are the low nibbles of a word's bytes, k = 1, 3, 5, 7 the high ones,
// and so x comes as its even and its odd elements. GPUs make floats of bytes without shifting them first.
fn floats_of(bytes: u32) -> vec4f {
  return vec4f((vec4u(bytes) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(255u));
}
fn dot_column(bits: u32, even: vec4f, odd: vec4f, start: f32) -> f32 {
  let low = floats_of(bits & 0x0f0f0f0fu);
  let high = floats_of((bits >> 4u) & 0x0f0f0f0fu);
  let lower = fma(low.w, even.w, fma(low.z, even.z, fma(low.y, even.y, fma(low.x, even.x, start))));
  return fma(high.w, odd.w, fma(high.z, odd.z, fma(high.y, odd.y, fma(high.x, odd.x, lower))));
}
// Of four columns.
fn dot_nibbles(bits: vec4u, even: vec4f, odd: vec4f, start: f32) -> vec4f {
  return vec4f(dot_column(bits.x, even, odd, start), dot_column(bits.y, even, odd, start),
               dot_column(bits.z, even, odd, start), dot_column(bits.w, even, odd, start));
}
