// Rotates pairs of a head's elements by the angle of their position (snippet `rotate`). One thread per pair; elements
// beyond the rotated ones are copied by the threads behind.
//! use grid rotate
struct Params {
  pairs: u32,       // threads per head: the rotated pairs, then one per element that passes through
  half: u32,        // rotated pairs
  dim: u32,
  count: u32,       // threads
  middle: u32,      // x is [outer, middle, inner, dim]
  inner: u32,
  first: u32,       // where the angles of x[0, 0, 0] start, and how far it is to the next ones
  outer_step: u32,
  middle_step: u32,
  inner_step: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read> cosines: array<cosines_store>;
@group(0) @binding(3) var<storage, read> sines: array<sines_store>;
@group(0) @binding(4) var<storage, read_write> y: array<y_store>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let index = group_index(wid, nwg) * 64u + lid;
  if (index >= p.count) {
    return;
  }
  let pair = index % p.pairs;
  let head = index / p.pairs;
  let base = head * p.dim;
  if (pair >= p.half) {
    let i = base + pair + p.half;
    y[i] = y_store(x_get(i));
    return;
  }
  let middle = head / p.inner;
  let row = p.first + middle / p.middle * p.outer_step + middle % p.middle * p.middle_step + head % p.inner * p.inner_step;
  let at = base + pair_at(pair, p.half);
  let turned = rotate(vec2f(x_get(at.x), x_get(at.y)), row, pair, p.half);
  y[at.x] = y_store(turned.x);
  y[at.y] = y_store(turned.y);
}
