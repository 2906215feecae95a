// Each block has a scale.
fn scale_of(block: u32) -> f32 {
  return scale_get(block);
}

fn inverse_of(block: u32) -> f32 {
  return 1.0 / scale_get(block);
}
