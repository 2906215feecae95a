// Rotates pairs of a head's elements by the angle of their position. One thread per pair; elements beyond the rotated
// ones are copied by the threads behind.
//   INTERLEAVED: pairs (2i, 2i+1), tables of width R/2. Otherwise: pairs (i, i+R/2), tables of width R.
//   PAIRED: cosines and sines take turns in one table of width R, bound twice.
//! use grid
struct Params {
  pairs: u32,       // per head: R/2 rotated pairs, then one per element that passes through
  rotated: u32,     // R/2
  heads: u32,
  positions: u32,   // S
  dim: u32,         // D
  first: u32,       // table row of position 0
  table_width: u32,
  count: u32,       // of all pairs
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read> cosines: array<t_store>;
@group(0) @binding(3) var<storage, read> sines: array<t_store>;
@group(0) @binding(4) var<storage, read_write> y: array<y_store>;

alias t_store = cosines_store;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let index = group_index(wid, nwg) * 64u + lid;
  if (index >= p.count) {
    return;
  }
  let pair = index % p.pairs;
  let head = index / p.pairs;
  let base = head * p.dim;
  if (pair >= p.rotated) {
    let i = base + pair + p.rotated;
    y[i] = x[i];
    return;
  }
  let row = (p.first + (head / p.heads) % p.positions) * p.table_width;
  if (INTERLEAVED) {
    let i = base + 2u * pair;
    let a = x_get(i);
    let b = x_get(i + 1u);
    let c = f32(cosines[row + select(pair, 2u * pair, PAIRED)]);
    let s = f32(sines[row + select(pair, 2u * pair + 1u, PAIRED)]);
    y[i] = y_store(a * c - b * s);
    y[i + 1u] = y_store(a * s + b * c);
  } else {
    let i = base + pair;
    let j = i + p.rotated;
    let a = x_get(i);
    let b = x_get(j);
    y[i] = y_store(a * f32(cosines[row + pair]) - b * f32(sines[row + pair]));
    y[j] = y_store(b * f32(cosines[row + pair + p.rotated]) + a * f32(sines[row + pair + p.rotated]));
  }
}
