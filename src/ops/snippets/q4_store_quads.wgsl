// Four columns of a row of one of up to three outputs, whose columns are whole quads.
fn store(part: u32, row: u32, quad: u32, v: vec4f) {
  let at = row * (p.columns[part] / 4u) + quad;
  if (part == 0u) {
    store0(at, v + residual_quad(at));
  } else if (part == 1u) {
    store1(at, v);
  } else {
    store2(at, v);
  }
}
