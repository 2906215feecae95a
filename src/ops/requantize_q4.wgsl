// Weights back to 4 bits with the scales they had: round(x / scale) in −8…7, two to a byte, the first in its low half. A
// scale of 0 and what is no number give 0. One thread per word of the output; rows of bytes follow each other without
// padding.
//! use grid nan
struct Params {
  bytes: u32,
  row_bytes: u32,
  depth: u32,         // K
  group: u32,
  scale_stride: u32,  // scales per group
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read> scales: array<scales_store>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;

fn code(row: u32, k: u32) -> u32 {
  if (k >= p.depth) {
    return 0u;
  }
  let scale = scales_get(k / p.group * p.scale_stride + row);
  let v = x_get(row * p.depth + k) / scale;
  let q = select(round(v), 0.0, scale == 0.0 || is_nan(v));
  return u32(clamp(q, -8.0, 7.0) + 8.0);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let word = group_index(wid, nwg) * 64u + lid;
  var out = 0u;
  for (var i = 0u; i < 4u; i++) {
    let byte = 4u * word + i;
    if (byte < p.bytes) {
      let row = byte / p.row_bytes;
      let k = 2u * (byte % p.row_bytes);
      out |= (code(row, k) | (code(row, k + 1u) << 4u)) << (8u * i);
    }
  }
  if (4u * word < p.bytes) {
    y[word] = out;
  }
}
