// Writes a row of four sums of integers as they are, modulo 2³².
fn put(batch: u32, row: u32, column: u32, sum: V4) {
  if (row >= p.rows || column >= p.columns) {
    return;
  }
  let at = (batch * p.rows + row) * p.width + p.first_column + column;
  y[at] = y_store(sum.x);
  if (column + 1u < p.columns) {
    y[at + 1u] = y_store(sum.y);
  }
  if (column + 2u < p.columns) {
    y[at + 2u] = y_store(sum.z);
  }
  if (column + 3u < p.columns) {
    y[at + 3u] = y_store(sum.w);
  }
}
