// What a boolean mask adds to the scores of attention: nothing where it is true, else p.hidden, which is −inf. One thread
// for four elements.
//! use grid
struct Params {
  count: u32,
  hidden: f32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> mask: array<mask_store>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let q = group_index(wid, nwg) * 64u + lid;
  if (q * 4u < p.count) {
    y_put(q, select(vec4f(p.hidden), vec4f(0.0), mask_quad(q) != vec4<mask_val>(0)));
  }
}
