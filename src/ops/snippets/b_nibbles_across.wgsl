// B is a matrix of 4-bit weights, row-major: four columns are two bytes, k is the row. The scale of column c in row k is
// number c / group · stride + k.
struct BPlace {
  at: u32,        // the byte of the first column, in the first row
  scales: vec4u,  // of four columns, in the first row
}
alias BColumns = BPlace;

fn b_place(batch: u32, column: u32) -> BPlace {
  let n = min(vec4u(column) + vec4u(0u, 1u, 2u, 3u), vec4u(p.columns - 1u));
  return BPlace(n.x / 2u, n / p.group * p.scale_stride);
}

fn b_begin(place: BPlace, section_y: u32, section_x: u32) -> BColumns {
  return place;
}

fn b_across(at: BColumns, k: u32) -> V4 {
  let row = min(k, p.depth - 1u);
  let s = at.scales + row;
  let scales = vec4f(b_scale_get(s.x), b_scale_get(s.y), b_scale_get(s.z), b_scale_get(s.w));
  return select(V4(), nibbles(at.at + row * p.b_step) * scales, k < p.depth);
}

fn b_load(at: BColumns, step: u32) -> Block {
  let k = 4u * step;
  return Block(b_across(at, k), b_across(at, k + 1u), b_across(at, k + 2u), b_across(at, k + 3u));
}
