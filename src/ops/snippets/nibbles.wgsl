// Four 4-bit values as −8…7, from the two bytes that start at byte `at` of B. B_WORDS: they lie in one word.
// B_HIGH_FIRST: the first of two values is in the high half of their byte.
fn nibbles(at: u32) -> vec4f {
  var pair: u32;
  if (B_WORDS) {
    pair = b[at / 4u] >> ((at & 2u) * 8u);
  } else {
    pair = u32(b_get(at)) | (u32(b_get(at + 1u)) << 8u);
  }
  if (B_HIGH_FIRST) {
    pair = ((pair & 0x0f0fu) << 4u) | ((pair >> 4u) & 0x0f0fu);
  }
  return vec4f((vec4u(pair) >> vec4u(0u, 4u, 8u, 12u)) & vec4u(15u)) - 8.0;
}
