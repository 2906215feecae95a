// Adds the zero point before rounding: a tie goes to the even sum. Like torch, makes 0 of what is no number.
fn convert(v: f32, block: u32) -> y_val {
  let q = clamp(round(v * inverse_of(block) + zero_of(block)), p.low, p.high);
  return y_val(select(q, 0.0, (bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u));
}
