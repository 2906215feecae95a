// One scale holds for all.
fn scale_of(block: u32) -> f32 {
  return p.scale;
}

fn inverse_of(block: u32) -> f32 {
  return p.inverse_scale;
}
