// Four columns of a row of one of up to three outputs; the last of them may not exist. What has a residual has one output.
fn residual_four(row: u32, quad: u32) -> vec4f {
  let at = row * p.columns.x + quad * 4u;
  let last = row * p.columns.x + p.columns.x - 1u;
  let i = min(at + vec4u(0u, 1u, 2u, 3u), vec4u(last));
  return vec4f(residual_get(i.x), residual_get(i.y), residual_get(i.z), residual_get(i.w));
}
fn put(part: u32, row: u32, quad: u32, v: vec4f) {
  let columns = p.columns[part];
  for (var c = 0u; c < 4u; c++) {
    let column = quad * 4u + c;
    if (column < columns) {
      let at = row * columns + column;
      if (part == 0u) {
        y0_put(at, y0_units(v[c]));
      } else if (part == 1u) {
        y1_put(at, y1_units(v[c]));
      } else {
        y2_put(at, y2_units(v[c]));
      }
    }
  }
}
fn store(part: u32, row: u32, quad: u32, v: vec4f) {
  put(part, row, quad, v + residual_four(row, quad));
}
