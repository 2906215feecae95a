// Four columns of a row of one of up to three outputs; the last of them may not exist.
fn store(part: u32, row: u32, quad: u32, v: vec4f) {
  let columns = p.columns[part];
  for (var c = 0u; c < 4u; c++) {
    let column = quad * 4u + c;
    if (column < columns) {
      let at = row * columns + column;
      if (part == 0u) {
        y0_put(at, y0_units(v[c] + residual_get(at)));
      } else if (part == 1u) {
        y1_put(at, y1_units(v[c]));
      } else {
        y2_put(at, y2_units(v[c]));
      }
    }
  }
}
