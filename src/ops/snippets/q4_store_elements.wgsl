// Four columns of a row of one of up to three outputs; the last of them may not exist.
fn store(part: u32, row: u32, quad: u32, v: vec4f) {
  let columns = p.columns[part];
  for (var c = 0u; c < 4u; c++) {
    let column = quad * 4u + c;
    if (column < columns) {
      let at = row * columns + column;
      if (part == 0u) {
        store0(at, v[c] + residual_get(at));
      } else if (part == 1u) {
        store1(at, v[c]);
      } else {
        store2(at, v[c]);
      }
    }
  }
}
