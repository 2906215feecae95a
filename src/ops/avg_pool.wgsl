// y = sum of each window / divisor. One thread per element. The divisor is p.number (FIXED), or the window's volume: with
// the padding (INCLUDE_PAD) but never beyond it, or without. ADAPTIVE: the windows cover the input, as equal as can be.
//! use grid window
@group(0) @binding(0) var<uniform> p: Window;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

// place · size / out, rounded down; `place` is at most `out`.
fn share(place: vec3u, size: vec3u, out: vec3u) -> vec3u {
  return place * (size / out) + place * (size % out) / out;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let volume = window_volume(i);
  let place = window_place(i);
  let size = vec3i(p.size.xyz);
  var window = window_first(place);
  var padded_end = min(window + vec3i(p.kernel.xyz), size + vec3i(p.padding.xyz));
  if (ADAPTIVE) {
    window = vec3i(share(place, p.size.xyz, p.out.xyz));
    let beyond = (place + 1u) * (p.size.xyz % p.out.xyz) % p.out.xyz != vec3u(0u);  // rounded up
    padded_end = vec3i(share(place + 1u, p.size.xyz, p.out.xyz)) + select(vec3i(0), vec3i(1), beyond);
  }
  let first = max(window, vec3i(0));
  let end = min(padded_end, size);
  var sum = 0.0;
  for (var d = first.x; d < end.x; d++) {
    for (var h = first.y; h < end.y; h++) {
      var row = 0.0;
      for (var w = first.z; w < end.z; w++) {
        row += x_get(volume + u32((d * size.y + h) * size.z + w));
      }
      sum += row;
    }
  }
  var divisor = p.number;
  if (!FIXED) {
    let sides = vec3f(select(end - first, padded_end - window, INCLUDE_PAD));
    divisor = sides.x * sides.y * sides.z;
  }
  let empty = any(first >= end);
  y[i] = y_store(select(sum / divisor, 0.0, empty));
}
