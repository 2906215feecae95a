// y = x · rsqrt(mean(x²) + eps) · w over the last axis, in f32. One workgroup per row: its threads stride over the row,
// add their squares up in workgroup memory, then stride over it again to write.
//! use grid
struct Params { rows: u32, width: u32, eps: f32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read> w: array<w_store>;
@group(0) @binding(3) var<storage, read_write> y: array<y_store>;

const SIZE = 64u;
var<workgroup> partial: array<f32, SIZE>;

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let row = group_index(wid, nwg);
  if (row >= p.rows) {
    return;
  }
  let base = row * p.width;
  var sum = 0.0;
  for (var i = lid; i < p.width; i += SIZE) {
    let v = x_get(base + i);
    sum += v * v;
  }
  partial[lid] = sum;
  workgroupBarrier();
  for (var step = SIZE / 2u; step > 0u; step /= 2u) {
    if (lid < step) {
      partial[lid] += partial[lid + step];
    }
    workgroupBarrier();
  }
  let scale = inverseSqrt(partial[0] / f32(p.width) + p.eps);
  for (var i = lid; i < p.width; i += SIZE) {
    y[base + i] = y_store(x_get(base + i) * scale * w_get(i));
  }
}
