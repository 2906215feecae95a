// Division by a size whose inverse, ⌊2³² / size⌋, is at hand: much faster than the operator.
fn high_product(a: u32, b: u32) -> u32 {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let middle = ah * bl + ((al * bl) >> 16u);
  return ah * bh + (middle >> 16u) + ((al * bh + (middle & 0xffffu)) >> 16u);
}

// Quotient and remainder.
fn divide(a: u32, size: u32, inverse: u32) -> vec2u {
  let low = high_product(a, inverse);  // at most one less than the quotient
  let rest = a - low * size;
  return select(vec2u(low, rest), vec2u(low + 1u, rest - size), rest >= size);
}
