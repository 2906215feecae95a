fn norm_at(i: u32) -> vec4f {
  return vec4f(1.0);
}
