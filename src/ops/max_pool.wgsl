// y = the largest element of each window, the last NaN if there is one; padding never wins. One thread per element. The
// specialisation binds x, y and perhaps the indices (within a volume). p.number is −inf.
//! variadic
//! use grid window nan
@group(0) @binding(0) var<uniform> p: Window;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let volume = window_volume(i);
  let size = vec3i(p.size.xyz);
  let step = vec3i(p.dilation.xyz);
  let window = window_first(window_place(i));
  let end = min(window + vec3i(p.kernel.xyz) * step, size);
  let first = window + max(vec3i(0), (step - 1 - window) / step) * step;  // the first tap inside
  var best = p.number;
  var index = (first.x * size.y + first.y) * size.z + first.z;
  for (var d = first.x; d < end.x; d += step.x) {
    for (var h = first.y; h < end.y; h += step.y) {
      for (var w = first.z; w < end.z; w += step.z) {
        let at = (d * size.y + h) * size.z + w;
        let v = x_get(volume + u32(at));
        if (v > best || is_nan(v)) {
          best = v;
          index = at;
        }
      }
    }
  }
  y[i] = y_store(best);
  indices_put(i, indices_units(index));
}
