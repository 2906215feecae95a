// Writes a row of four results, element by element.
fn put(batch: u32, row: u32, column: u32, sum: V4) {
  if (row >= p.rows || column >= p.columns) {
    return;
  }
  let v = finish(batch, row, column, sum);
  let at = (batch * p.rows + row) * p.width + p.first_column + column;
  y[at] = y_store(v.x);
  if (column + 1u < p.columns) {
    y[at + 1u] = y_store(v.y);
  }
  if (column + 2u < p.columns) {
    y[at + 2u] = y_store(v.z);
  }
  if (column + 3u < p.columns) {
    y[at + 3u] = y_store(v.w);
  }
}
