// The sum of overlapping blocks: column l of x holds the block that lies at place l of an image, channel by channel. One
// thread per element of the image, which adds up what the blocks over it have there.
//! use grid window
@group(0) @binding(0) var<uniform> p: Window;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  // The image is `size`, the places of blocks are `out`.
  let plane = i / (p.size.y * p.size.z);
  let at = vec2i(vec2u(i / p.size.z % p.size.y, i % p.size.z) + p.padding.yz);
  let places = p.out.y * p.out.z;
  var sum = 0.0;
  for (var h = 0u; h < p.kernel.y; h++) {
    for (var w = 0u; w < p.kernel.z; w++) {
      let reached = at - vec2i(vec2u(h, w) * p.dilation.yz);
      let place = reached / vec2i(p.stride.yz);
      let inside = all(reached >= vec2i(0)) && all(place * vec2i(p.stride.yz) == reached) && all(place < vec2i(p.out.yz));
      if (inside) {
        let row = (plane * p.kernel.y + h) * p.kernel.z + w;
        sum += x_get(row * places + u32(place.x) * p.out.z + u32(place.y));
      }
    }
  }
  y[i] = y_store(sum);
}
