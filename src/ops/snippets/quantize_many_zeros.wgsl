// Each block has a zero point.
fn zero_of(block: u32) -> f32 {
  return f32(zero_get(block));
}
