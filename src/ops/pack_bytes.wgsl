// Narrows integers to bytes, four to a word. One thread per word; what lies behind the end is never looked at.
//! use grid
struct Params { words: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<i32>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i < p.words) {
    y_put(i, y_units(x[4u * i], x[4u * i + 1u], x[4u * i + 2u], x[4u * i + 3u]));
  }
}
