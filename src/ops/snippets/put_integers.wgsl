// Writes a row of four sums of integers, scaled and with what is added to them, modulo 2³².
fn put(batch: u32, row: u32, column: u32, product: V4) {
  if (row >= p.rows || column >= p.columns) {
    return;
  }
  let c = min(vec4u(p.first_column + column) + vec4u(0u, 1u, 2u, 3u), vec4u(p.width - 1u));
  let s = vec4u(row * p.addend_row) + c * p.addend_column;
  let addend = vec4i(i32(addend_get(s.x)), i32(addend_get(s.y)), i32(addend_get(s.z)), i32(addend_get(s.w)));
  let sum = product * i32(p.factor) + addend * i32(p.beta);
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
