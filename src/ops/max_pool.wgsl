// y = the largest element of each window, the last NaN if there is one; padding never wins. One thread per element. The
// specialisation binds x, y and perhaps the indices (within a plane), and gives keep(i, index). p.number is −inf.
//! variadic
//! use grid window nan
@group(0) @binding(0) var<uniform> p: Window;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let plane = window_plane(i);
  let size = vec2i(p.size);
  let step = vec2i(p.dilation);
  let window = window_first(i);
  let end = min(window + vec2i(p.kernel) * step, size);
  let first = window + max(vec2i(0), (step - 1 - window) / step) * step;  // the first tap inside
  var best = p.number;
  var index = first.x * size.y + first.y;
  for (var h = first.x; h < end.x; h += step.x) {
    for (var w = first.y; w < end.y; w += step.y) {
      let v = x_get(plane + u32(h * size.y + w));
      if (v > best || is_nan(v)) {
        best = v;
        index = h * size.y + w;
      }
    }
  }
  y[i] = y_store(best);
  keep(i, index);
}
