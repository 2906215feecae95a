// Copies words, four to a thread.
//! use grid
struct Params { quads: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4u>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i < p.quads) {
    y[i] = x[i];
  }
}
