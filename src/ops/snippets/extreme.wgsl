// Comparing values of type V where a NaN wins. FLOATING: V is f32. Bits are compared, as compilers may assume that no
// NaN exists.
fn is_nan(v: V) -> bool {
  return FLOATING && (bitcast<u32>(v) & 0x7FFFFFFFu) > 0x7F800000u;
}
