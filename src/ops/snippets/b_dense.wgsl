// B is a tensor. B_DEPTH_QUADS: four k are one load (a weight [N, K]); B_COLUMN_QUADS: four columns are.
alias BPlace = vec4u;
alias BColumns = vec4u;  // where each of four columns starts

fn b_place(batch: u32, column: u32) -> BPlace {
  return batch * p.b_batch + min(vec4u(column) + vec4u(0u, 1u, 2u, 3u), vec4u(p.columns - 1u)) * p.b_column;
}

fn b_begin(place: BPlace, section_y: u32, section_x: u32) -> BColumns {
  return place;
}

fn b_across(at: BColumns, k: u32) -> V4 {
  let i = at + min(k, p.depth - 1u) * p.b_step;
  if (B_COLUMN_QUADS) {
    return select(V4(), V4(b_quad(i.x / 4u)), k < p.depth);
  }
  return select(V4(), V4(V(b_get(i.x)), V(b_get(i.y)), V(b_get(i.z)), V(b_get(i.w))), k < p.depth);
}

fn b_load(at: BColumns, step: u32) -> Block {
  if (B_DEPTH_QUADS) {
    let i = at / 4u + step;
    return transposed(Block(V4(b_quad(i.x)), V4(b_quad(i.y)), V4(b_quad(i.z)), V4(b_quad(i.w))));
  }
  let k = 4u * step;
  return Block(b_across(at, k), b_across(at, k + 1u), b_across(at, k + 2u), b_across(at, k + 3u));
}
