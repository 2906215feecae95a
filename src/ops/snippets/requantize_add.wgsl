fn combine(a: f32, i: u32) -> f32 {
  return a + p.alpha * ((f32(b_get(source(1u, i))) - p.b_zero) * p.b_scale);
}
