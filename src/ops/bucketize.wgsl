// y[i] = how many boundaries are below x[i] or, if RIGHT, not above it. One thread per element, by bisection. NaN lies
// behind all of them.
//! use grid nan
struct Params {
  count: u32,
  boundaries: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read> boundaries: array<boundaries_store>;
@group(0) @binding(3) var<storage, read_write> y: array<i32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let v = V(x_get(i));
  var low = 0u;
  var high = p.boundaries;
  while (low < high) {
    let middle = low + (high - low) / 2u;
    let boundary = V(boundaries_get(middle));
    if (is_nan(f32(v)) || boundary < v || (RIGHT && boundary == v)) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  y[i] = i32(low);
}
