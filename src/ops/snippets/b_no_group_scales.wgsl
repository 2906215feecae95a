// 4-bit weights whose scales are those of whole columns, which the sums are multiplied by at the end.
fn b_scales(column: u32, group: u32) -> vec4f {
  return vec4f(1.0);
}
