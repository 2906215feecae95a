// y = planes of x at another size, by the nearest pixel (NEAREST) or between the four around. One thread per element.
// ALIGN: the corner pixels' centres are the corners. Pairs are (height, width).
//! use grid
struct Params {
  count: u32,
  pad: u32,
  size: vec2u,
  out: vec2u,
  scale: vec2f,  // steps in the input per step in the output
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let plane = i / (p.out.x * p.out.y) * (p.size.x * p.size.y);
  let at = vec2f(vec2u((i / p.out.y) % p.out.x, i % p.out.y));
  let last = p.size - 1u;
  if (NEAREST) {
    let source = min(vec2u(at * p.scale), last);
    y[i] = y_store(x_get(plane + source.x * p.size.y + source.y));
    return;
  }
  let exact = max(select((at + 0.5) * p.scale - 0.5, at * p.scale, ALIGN), vec2f(0.0));
  let low = min(vec2u(exact), last);
  let high = min(low + 1u, last);
  let t = clamp(exact - vec2f(low), vec2f(0.0), vec2f(1.0));
  let top = mix(x_get(plane + low.x * p.size.y + low.y), x_get(plane + low.x * p.size.y + high.y), t.y);
  let bottom = mix(x_get(plane + high.x * p.size.y + low.y), x_get(plane + high.x * p.size.y + high.y), t.y);
  y[i] = y_store(mix(top, bottom, t.x));
}
