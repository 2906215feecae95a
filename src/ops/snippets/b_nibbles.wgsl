// B's columns are rows of 4-bit weights. B_GROUPED: their scales belong to groups of k (else to columns, and finish.wgsl
// sees to them). B_SECTIONS: a section is a group, so that its scales are loaded once.
struct BPlace {
  at: vec4u,  // the byte where each of four columns starts
  column: u32,
}
struct BColumns {
  at: vec4u,
  column: u32,
  scales: vec4f,
}

fn b_place(batch: u32, column: u32) -> BPlace {
  let n = min(vec4u(column) + vec4u(0u, 1u, 2u, 3u), vec4u(p.columns - 1u));
  return BPlace(n * p.b_column, p.first_column + column);
}

fn b_begin(place: BPlace, section_y: u32, section_x: u32) -> BColumns {
  if (B_SECTIONS) {
    return BColumns(place.at + section_x * p.group / 2u, place.column, b_scales(place.column, section_x));
  }
  return BColumns(place.at, place.column, vec4f(1.0));
}

fn b_load(at: BColumns, step: u32) -> Block {
  let i = at.at + 2u * step;
  let w = transposed(Block(nibbles(i.x), nibbles(i.y), nibbles(i.z), nibbles(i.w)));
  if (!B_GROUPED) {
    return w;
  }
  if (B_SECTIONS) {
    return Block(w.r0 * at.scales, w.r1 * at.scales, w.r2 * at.scales, w.r3 * at.scales);
  }
  let group = min(vec4u(4u * step) + vec4u(0u, 1u, 2u, 3u), vec4u(p.depth - 1u)) / p.group;
  return Block(w.r0 * b_scales(at.column, group.x), w.r1 * b_scales(at.column, group.y),
               w.r2 * b_scales(at.column, group.z), w.r3 * b_scales(at.column, group.w));
}
