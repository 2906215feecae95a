// One zero point holds for all.
fn zero_of(block: u32) -> f32 {
  return p.zero;
}
