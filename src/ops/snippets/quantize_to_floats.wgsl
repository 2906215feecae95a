fn convert(v: f32, block: u32) -> y_val {
  return y_val((v - zero_of(block)) * scale_of(block));
}
