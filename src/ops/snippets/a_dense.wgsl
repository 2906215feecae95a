// A is a tensor. A_QUADS: four k are one load. A_CENTERED: its zero point is subtracted.
alias ARow = u32;  // where a row starts

fn a_begin(batch: u32, row: u32, section: u32) -> ARow {
  return (batch % p.a_batches) * p.a_batch + min(row, p.rows - 1u) * p.a_row + section * p.a_section;
}

fn a_one(at: ARow, k: u32) -> V {
  var v = V(a_get(at + min(k, p.depth - 1u) * p.a_step));
  if (A_CENTERED) {
    v -= V(p.a_zero);
  }
  return select(V(), v, k < p.depth);
}

fn a_load(at: ARow, step: u32) -> V4 {
  if (!A_QUADS) {
    let k = 4u * step;
    return V4(a_one(at, k), a_one(at, k + 1u), a_one(at, k + 2u), a_one(at, k + 3u));
  }
  let v = V4(a_quad(at / 4u + step));
  if (A_CENTERED) {
    return v - V4(V(p.a_zero));
  }
  return v;
}
