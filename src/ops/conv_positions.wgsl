// Lays an image out by positions for a convolution that reads four numbers of one at a time. A position is a pixel with its
// channels, margins included, or, with UNFOLD, a result with all that its filter looks at: channel after channel, their
// taps in order. What a position has is filled up to whole quads with zeros. A thread makes one quad.
//! use grid
struct Params {
  quads: u32,      // of all positions of all batches
  quads_each: u32,
  channels: u32,   // per batch
  positions: u32,  // per batch
  height: u32,     // of the grid of positions
  width: u32,
  taps: vec4u,     // x, y, z and, in w, of all axes
  size: vec4u,     // of the image
  stride: vec4u,
  pad: vec4i,
  dilation: vec4u,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

// A position's number k of a batch whose first channel starts at `first`.
fn element(first: u32, corner: vec3i, k: u32) -> f32 {
  var channel = k;
  var at = corner;
  if (UNFOLD) {
    channel = k / p.taps.w;
    let tap = k - channel * p.taps.w;
    let line = tap / p.taps.x;
    at += vec3i(vec3u(tap % p.taps.x, line % p.taps.y, line / p.taps.y) * p.dilation.xyz);
  }
  if (channel >= p.channels || any(at < vec3i(0)) || any(at >= vec3i(p.size.xyz))) {
    return 0.0;
  }
  let spot = vec3u(at);
  return x_get(first + channel * (p.size.x * p.size.y * p.size.z) + (spot.z * p.size.y + spot.y) * p.size.x + spot.x);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let q = group_index(wid, nwg) * 64u + lid;
  if (q >= p.quads) {
    return;
  }
  let place = q / p.quads_each;
  let batch = place / p.positions;
  let position = place - batch * p.positions;
  let line = position / p.width;
  let at = vec3u(position - line * p.width, line % p.height, line / p.height);
  let corner = vec3i(at * p.stride.xyz) - p.pad.xyz;
  let first = batch * p.channels * (p.size.x * p.size.y * p.size.z);
  let k = (q - place * p.quads_each) * 4u;
  y_put(q, vec4f(element(first, corner, k), element(first, corner, k + 1u), element(first, corner, k + 2u),
                 element(first, corner, k + 3u)));
}
