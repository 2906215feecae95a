// y = x with every `step`-th position of an axis, from `start` on, replaced by the source's. One thread for four
// neighbours.
//! use grid divide
struct Params {
  count: u32,
  inner: u32,  // elements below a position
  inner_inverse: u32,
  size: u32,  // of the axis
  size_inverse: u32,
  start: u32,
  step: u32,
  step_inverse: u32,
  positions: u32,  // that are replaced
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read> source: array<source_store>;
@group(0) @binding(3) var<storage, read_write> y: array<y_store>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let q = group_index(wid, nwg) * 64u + lid;
  if (q * 4u >= p.count) {
    return;
  }
  var v = x_quad(q);
  for (var k = 0u; k < 4u; k++) {
    let inner = divide(q * 4u + k, p.inner, p.inner_inverse);  // position and what is below it
    let outer = divide(inner.x, p.size, p.size_inverse);
    let place = divide(outer.y - p.start, p.step, p.step_inverse);
    if (q * 4u + k < p.count && outer.y >= p.start && place.y == 0u && place.x < p.positions) {
      v[k] = source_get((outer.x * p.positions + place.x) * p.inner + inner.y);
    }
  }
  y_put(q, v);
}
