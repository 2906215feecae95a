// By its bits, as compilers may assume that no NaN exists.
fn is_nan(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7FFFFFFFu) > 0x7F800000u;
}
