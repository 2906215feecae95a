// y[r] = (column + offset, row + offset) · stride of point r of a grid. One thread per number.
//! use grid
struct Params {
  count: u32,
  width: u32,
  stride: f32,
  offset: f32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> y: array<y_store>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let point = i / 2u;
  let at = select(point / p.width, point % p.width, i % 2u == 0u);
  y[i] = y_store((f32(at) + p.offset) * p.stride);
}
