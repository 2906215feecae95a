// Four weights of the norm.
fn norm_at(i: u32) -> vec4f {
  return norm[i];
}
