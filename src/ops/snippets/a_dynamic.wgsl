// A is a tensor whose rows are quantised to int8 on the way, each with its own scale and zero point, and counted from the
// zero point. The sums lack the row's scale. A_QUADS: four k are one load.
struct ARow {
  at: u32,
  inverse_scale: f32,
  zero: f32,
}

fn a_begin(batch: u32, row: u32, section: u32) -> ARow {
  let m = min(row, p.rows - 1u);
  return ARow(m * p.a_row + section * p.a_section, 1.0 / row_scale_get(m), f32(row_zero_get(m)));
}

fn a_one(at: ARow, k: u32) -> f32 {
  return select(0.0, a_get(at.at + min(k, p.depth - 1u)), k < p.depth);
}

fn a_load(at: ARow, step: u32) -> V4 {
  let k = 4u * step;
  var v: vec4f;
  if (A_QUADS) {
    v = a_quad(at.at / 4u + step);
  } else {
    v = vec4f(a_one(at, k), a_one(at, k + 1u), a_one(at, k + 2u), a_one(at, k + 3u));
  }
  return clamp(round(v * at.inverse_scale) + at.zero, vec4f(-128.0), vec4f(127.0)) - at.zero;
}
