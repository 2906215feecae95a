// Four columns of a row of one of up to three outputs, whose columns are whole quads.
fn store(part: u32, row: u32, quad: u32, v: vec4f) {
  let at = row * (p.columns[part] / 4u) + quad;
  if (part == 0u) {
    y0_put(at, v + residual_quad(at));
  } else if (part == 1u) {
    y1_put(at, v);
  } else {
    y2_put(at, v);
  }
}
