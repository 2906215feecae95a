// Writes a row of four results as the bytes of one word. Rows are a whole number of words.
fn put(batch: u32, row: u32, column: u32, sum: V4) {
  if (row >= p.rows || column >= p.columns) {
    return;
  }
  let v = vec4i(finish(batch, row, column, sum));
  y_put(((batch * p.rows + row) * p.width + p.first_column + column) / 4u, y_units(v.x, v.y, v.z, v.w));
}
