// Four columns of a row of one of up to three outputs, whose columns are whole quads. What has a residual has one output.
fn residual_four(row: u32, quad: u32) -> vec4f {
  return residual_quad(row * (p.columns.x / 4u) + quad);
}
fn put(part: u32, row: u32, quad: u32, v: vec4f) {
  let at = row * (p.columns[part] / 4u) + quad;
  if (part == 0u) {
    y0_put(at, v);
  } else if (part == 1u) {
    y1_put(at, v);
  } else {
    y2_put(at, v);
  }
}
fn store(part: u32, row: u32, quad: u32, v: vec4f) {
  put(part, row, quad, v + residual_four(row, quad));
}
