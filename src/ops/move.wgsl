// y[i] = x[base + Σ coordinate · stride]: slices, permutations, broadcasts, flips and the like. One thread for four
// neighbours of the output, which the specialisation's x_at reads.
//! use grid divide walk
const AXIS_VECTORS = 4u;
struct Params {
  count: u32,
  rank: u32,
  base: u32,
  pad: u32,
  dims: array<vec4u, 4>,
  inverses: array<vec4u, 4>,
  strides: array<vec4u, 4>,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

fn walk_base(list: u32) -> u32 {
  return p.base;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let q = group_index(wid, nwg) * 64u + lid;
  if (q * 4u < p.count) {
    y_put(q, x_at(q));
  }
}
