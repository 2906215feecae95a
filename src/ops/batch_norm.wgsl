// y = (input - mean[c]) · (rsqrt(variance[c] + eps) · weight[c]) + bias[c] of channel c. One thread per element. The
// specialisation binds the tensors; a weight or bias may be absent.
//! variadic
//! use grid
struct Params {
  count: u32,
  channels: u32,
  stride: u32,  // elements of a channel
  eps: f32,
}
@group(0) @binding(0) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let c = (i / p.stride) % p.channels;
  y[i] = y_store((input_get(i) - mean_get(c)) * (inverseSqrt(variance_get(c) + p.eps) * weight_get(c)) + bias_get(c));
}
