// y[n, c, h, w] = image x at the place that grid[n, h, w] names: (x, y) in −1…1 from edge to edge, or from the centre of
// the first pixel to that of the last (ALIGN). One thread per element. What lies outside is zero, the nearest pixel of
// the border, or a reflection at the border.
//! use grid nan
struct Params {
  count: u32,
  channels: u32,
  size: vec2u,  // height, width
  out: vec2u,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read> grid: array<grid_store>;
@group(0) @binding(3) var<storage, read_write> y: array<y_store>;

const BILINEAR = 0u;
const NEAREST = 1u;
const BORDER = 1u;
const REFLECTION = 2u;

// Mirrors v as often as needed to lie between the borders.
fn reflect_into(v: f32, size: f32) -> f32 {
  let low = select(-0.5, 0.0, ALIGN);
  let span = select(size, size - 1.0, ALIGN);
  if (span <= 0.0) {
    return 0.0;
  }
  let distance = abs(v - low);
  let flips = floor(distance / span);
  let extra = distance - flips * span;
  let even = flips - 2.0 * floor(flips * 0.5) < 0.5;
  return select(span - extra, extra, even) + low;
}
// The nearest coordinate inside; NaN counts as the first.
fn clip(v: f32, size: f32) -> f32 {
  return select(clamp(v, 0.0, size - 1.0), 0.0, is_nan(v));
}
// A coordinate in pixels, moved inside as the padding says; zero padding leaves it alone.
fn inside(v: f32, size: f32) -> f32 {
  if (PADDING == BORDER) {
    return clip(v, size);
  }
  if (PADDING == REFLECTION) {
    return clip(reflect_into(v, size), size);
  }
  return v;
}
// The pixel at whole coordinates (h, w), 0 outside.
fn pixel(plane: u32, h: f32, w: f32) -> f32 {
  let size = vec2f(p.size);
  if (h >= 0.0 && h < size.x && w >= 0.0 && w < size.y) {
    return x_get(plane + u32(h) * p.size.y + u32(w));
  }
  return 0.0;
}
// Weights of the four pixels around, t behind the second one.
fn cubic(t: f32) -> vec4f {
  let a = -0.75;
  let near = vec2f(t, 1.0 - t);
  let far = near + 1.0;
  let inner = ((a + 2.0) * near - (a + 3.0)) * near * near + 1.0;
  let outer = ((a * far - 5.0 * a) * far + 8.0 * a) * far - 4.0 * a;
  return vec4f(outer.x, inner.x, inner.y, outer.y);
}

fn bilinear(plane: u32, h: f32, w: f32) -> f32 {
  let h0 = floor(h);
  let w0 = floor(w);
  let top = mix(pixel(plane, h0, w0), pixel(plane, h0, w0 + 1.0), w - w0);
  let bottom = mix(pixel(plane, h0 + 1.0, w0), pixel(plane, h0 + 1.0, w0 + 1.0), w - w0);
  return mix(top, bottom, h - h0);
}
fn bicubic(plane: u32, h: f32, w: f32) -> f32 {
  let size = vec2f(p.size);
  let h0 = floor(h);
  let w0 = floor(w);
  let weights = cubic(w - w0);
  var rows: vec4f;
  for (var r = 0u; r < 4u; r++) {
    let row = floor(inside(h0 - 1.0 + f32(r), size.x));
    var taps: vec4f;
    for (var c = 0u; c < 4u; c++) {
      taps[c] = pixel(plane, row, floor(inside(w0 - 1.0 + f32(c), size.y)));
    }
    rows[r] = dot(taps, weights);
  }
  return dot(rows, cubic(h - h0));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let points = p.out.x * p.out.y;
  let image = i / points;
  let point = 2u * (image / p.channels * points + i % points);
  let plane = image * p.size.x * p.size.y;
  let place = vec2f(grid_get(point + 1u), grid_get(point));  // height, width
  let size = vec2f(p.size);
  let at = select(((place + 1.0) * size - 1.0) * 0.5, (place + 1.0) * 0.5 * (size - 1.0), ALIGN);
  var v: f32;
  if (INTERPOLATION == BILINEAR) {
    v = bilinear(plane, inside(at.x, size.x), inside(at.y, size.y));
  } else if (INTERPOLATION == NEAREST) {
    v = pixel(plane, round(inside(at.x, size.x)), round(inside(at.y, size.y)));
  } else {
    v = bicubic(plane, at.x, at.y);
  }
  y[i] = y_store(v);
}
