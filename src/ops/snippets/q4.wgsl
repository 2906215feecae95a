// Eight 4-bit weights of a word, k = 0…7 from the lowest nibble up, as −8…7.
fn q4_low(word: u32) -> vec4f {
  return vec4f(vec4u(word, word >> 4u, word >> 8u, word >> 12u) & vec4u(15u)) - vec4f(8.0);
}
fn q4_high(word: u32) -> vec4f {
  return q4_low(word >> 16u);
}
// One weight: nibble `i` of byte-packed data, low nibble first.
fn q4_one(word: u32, i: u32) -> f32 {
  return f32((word >> (i * 4u)) & 15u) - 8.0;
}
