// Rotary embedding of one pair of a head's elements. INTERLEAVED: pairs (2i, 2i+1), tables with one angle per pair;
// PAIRED: cosines and sines take turns in one table, bound twice. Otherwise: pairs (i, i+half), tables with one angle
// per element. The kernel binds `cosines` and `sines`.
fn pair_at(pair: u32, half: u32) -> vec2u {
  return select(vec2u(pair, pair + half), vec2u(2u * pair, 2u * pair + 1u), INTERLEAVED);
}
// `row` is where the position's angles start in the tables.
fn rotate(v: vec2f, row: u32, pair: u32, half: u32) -> vec2f {
  if (PAIRED) {
    let turn = vec2f(cosines_get(row + 2u * pair), sines_get(row + 2u * pair + 1u));
    return vec2f(v.x * turn.x - v.y * turn.y, v.y * turn.x + v.x * turn.y);
  }
  let other = select(pair + half, pair, INTERLEAVED);
  return vec2f(v.x * cosines_get(row + pair) - v.y * sines_get(row + pair),
               v.y * cosines_get(row + other) + v.x * sines_get(row + other));
}
