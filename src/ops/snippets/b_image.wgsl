// B's columns are the positions of a convolution's result, its k the channels of the image, its sections the taps of the
// filter. B_CENTERED: the image's zero point is subtracted; padding counts as zero.
struct BPlace {
  at: u32,  // where the batch's channels start
  spots: Spots,
}
struct BColumns {
  at: vec4u,  // in the first channel
  inside: vec4<bool>,
}

fn b_place(batch: u32, column: u32) -> BPlace {
  return BPlace(batch * p.b_batch, spots(min(column, p.columns - 1u)));
}

fn b_begin(place: BPlace, section_y: u32, section_x: u32) -> BColumns {
  let s = sources(place.spots, section_y, section_x);
  return BColumns(place.at + s.at, s.inside);
}

// Four positions in channel k.
fn b_across(at: BColumns, k: u32) -> V4 {
  let i = at.at + min(k, p.depth - 1u) * p.b_step;
  var v = V4(V(b_get(i.x)), V(b_get(i.y)), V(b_get(i.z)), V(b_get(i.w)));
  if (B_CENTERED) {
    v -= V4(V(p.b_zero));
  }
  return select(V4(), v, at.inside & vec4<bool>(k < p.depth));
}

fn b_load(at: BColumns, step: u32) -> Block {
  let k = 4u * step;
  return Block(b_across(at, k), b_across(at, k + 1u), b_across(at, k + 2u), b_across(at, k + 3u));
}
