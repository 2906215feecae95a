fn combine(a: f32, i: u32) -> f32 {
  return a;
}
