// Adds the zero point behind rounding.
fn convert(v: f32, block: u32) -> y_val {
  return y_val(clamp(round(v * inverse_of(block)) + zero_of(block), p.low, p.high));
}
