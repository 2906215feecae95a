// y = sum of each window / divisor. One thread per element. The divisor is p.number (FIXED), or the window's area: with
// the padding (INCLUDE_PAD) but never beyond it, or without.
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
  let plane = window_plane(i);
  let size = vec2i(p.size);
  let window = window_first(i);
  let padded_end = min(window + vec2i(p.kernel), size + vec2i(p.padding));
  let first = max(window, vec2i(0));
  let end = min(padded_end, size);
  var sum = 0.0;
  for (var h = first.x; h < end.x; h++) {
    var row = 0.0;
    for (var w = first.y; w < end.y; w++) {
      row += x_get(plane + u32(h * size.y + w));
    }
    sum += row;
  }
  var divisor = p.number;
  if (!FIXED) {
    let sides = select(end - first, padded_end - window, INCLUDE_PAD);
    divisor = f32(sides.x) * f32(sides.y);
  }
  let empty = any(first >= end);
  y[i] = y_store(select(sum / divisor, 0.0, empty));
}
