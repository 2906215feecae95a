// y = volumes of x at another size. One thread per element. MODE: the nearest element (by where elements begin, or by
// their centres), or between those around it, in straight lines or in cubic curves over 4 by 4 of them. ALIGN: the
// corners' centres are the corners. Triples are (depth, height, width); images (not VOLUME) have a depth of 1.
//! use grid
struct Params {
  count: u32,
  pad0: u32,
  pad1: u32,
  pad2: u32,
  size: vec4u,
  out: vec4u,
  scale: vec4f,  // steps in the input per step in the output
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

const NEAREST = 0u;
const NEAREST_CENTRE = 1u;
const LINEAR = 2u;
const CUBIC = 3u;

fn between(plane: u32, low: vec2u, high: vec2u, t: vec2f) -> f32 {
  let top = mix(x_get(plane + low.x * p.size.z + low.y), x_get(plane + low.x * p.size.z + high.y), t.y);
  let bottom = mix(x_get(plane + high.x * p.size.z + low.y), x_get(plane + high.x * p.size.z + high.y), t.y);
  return mix(top, bottom, t.x);
}

// How much four neighbours count at a place t behind the second one.
fn cubic_weights(t: f32) -> vec4f {
  let a = -0.75;
  let d = vec4f(t + 1.0, t, 1.0 - t, 2.0 - t);
  let near = ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
  let far = ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a;
  return vec4f(far.x, near.y, near.z, far.w);
}

fn curved(plane: u32, at: vec2f, last: vec2i) -> f32 {
  let base = floor(at);
  let rows = cubic_weights(at.x - base.x);
  let columns = cubic_weights(at.y - base.y);
  var sum = 0.0;
  for (var i = 0; i < 4; i++) {
    let row = plane + u32(clamp(i32(base.x) - 1 + i, 0, last.x)) * p.size.z;
    var line = 0.0;
    for (var j = 0; j < 4; j++) {
      line += columns[j] * x_get(row + u32(clamp(i32(base.y) - 1 + j, 0, last.y)));
    }
    sum += rows[i] * line;
  }
  return sum;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let row = i / p.out.z;
  let at = vec3f(vec3u(select(0u, row / p.out.y % p.out.x, VOLUME), row % p.out.y, i % p.out.z));
  let volume = i / (p.out.x * p.out.y * p.out.z) * (p.size.x * p.size.y * p.size.z);
  let plane = p.size.y * p.size.z;
  let last = p.size.xyz - 1u;
  if (MODE == NEAREST || MODE == NEAREST_CENTRE) {
    let source = min(vec3u((at + select(0.0, 0.5, MODE == NEAREST_CENTRE)) * p.scale.xyz), last);
    y[i] = y_store(x_get(volume + source.x * plane + source.y * p.size.z + source.z));
    return;
  }
  let place = select((at + 0.5) * p.scale.xyz - 0.5, at * p.scale.xyz, ALIGN);
  if (MODE == CUBIC) {
    y[i] = y_store(curved(volume, place.yz, vec2i(last.yz)));
    return;
  }
  let exact = max(place, vec3f(0.0));
  let low = min(vec3u(exact), last);
  let high = min(low + 1u, last);
  let t = clamp(exact - vec3f(low), vec3f(0.0), vec3f(1.0));
  var v = between(volume + low.x * plane, low.yz, high.yz, t.yz);
  if (VOLUME) {
    v = mix(v, between(volume + high.x * plane, low.yz, high.yz, t.yz), t.x);
  }
  y[i] = y_store(v);
}
