// Adds the zero point before rounding: a tie goes to the even sum.
fn convert(v: f32, block: u32) -> y_val {
  return y_val(clamp(round(v * inverse_of(block) + zero_of(block)), p.low, p.high));
}
