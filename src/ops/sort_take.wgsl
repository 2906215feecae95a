// The first elements of rows that are in order: their values, from x, and where in the row they were. One thread for
// four neighbours of the results.
//! use grid
struct Params {
  count: u32,
  length: u32,  // of a row
  stride: u32,  // between its neighbours in x and in the results
  kept: u32,    // of a row in the results
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read> order: array<vec2u>;
@group(0) @binding(3) var<storage, read_write> y: array<y_store>;
@group(0) @binding(4) var<storage, read_write> places: array<i32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let q = group_index(wid, nwg) * 64u + lid;
  if (q * 4u >= p.count) {
    return;
  }
  var v: vec4<y_val>;
  for (var k = 0u; k < 4u && q * 4u + k < p.count; k++) {
    let i = q * 4u + k;
    let inner = i % p.stride;
    let rank = i / p.stride % p.kept;
    let outer = i / p.stride / p.kept;
    let place = order[(outer * p.stride + inner) * p.length + rank].y;
    v[k] = x_get((outer * p.length + place) * p.stride + inner);
    places[i] = i32(place);
  }
  y_put(q, v);
}
