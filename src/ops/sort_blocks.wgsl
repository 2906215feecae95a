// Orders blocks of p.run neighbours of each row: one thread per element counts who stands in front of it. An element
// becomes a key, whose order as an unsigned number is the one asked for, and its place in the row.
//! use grid
struct Params {
  count: u32,
  length: u32,
  stride: u32,  // between neighbours of a row in x
  run: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<vec2u>;

// NaN is the largest number; 0 and −0 are equal.
fn key_of(at: u32) -> u32 {
  var key: u32;
  if (REAL) {
    let bits = bitcast<u32>(f32(x_get(at)));
    let magnitude = bits & 0x7FFFFFFFu;
    key = select(0x80000000u | magnitude, ~bits, (bits >> 31u) != 0u && magnitude != 0u);
    key = select(key, 0xFFFFFFFFu, magnitude > 0x7F800000u);
  } else {
    key = bitcast<u32>(i32(x_get(at))) ^ 0x80000000u;
  }
  return select(key, ~key, DESCENDING);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let row = i / p.length;
  let place = i % p.length;
  let base = row / p.stride * p.length * p.stride + row % p.stride;
  let key = key_of(base + place * p.stride);
  let first = place / p.run * p.run;
  let last = min(first + p.run, p.length);
  var before = 0u;
  for (var other = first; other < last; other++) {
    let its = key_of(base + other * p.stride);
    before += select(0u, 1u, its < key || (its == key && other < place));
  }
  y[row * p.length + first + before] = vec2u(key, place);
}
