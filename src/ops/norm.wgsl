// y = (x - mean) · rsqrt(variance + eps) · weight + bias over rows (CENTERED), or without the mean: x · rsqrt(mean of
// squares + eps) · weight. The variance is taken from differences to the mean, corrected by what rounding left of their
// own mean. The specialisation binds x, y and what there is of weight, bias, mean and rstd.
//! variadic
//! use grid rows
struct Params {
  rows: Rows,
  groups: u32,  // rows that differ in weight and bias
  stride: u32,  // neighbours that share one element of them
  eps: f32,
}
@group(0) @binding(0) var<uniform> p: Params;

alias State = vec2f;  // sum, sum of squares
const SUM = 0u;
const SQUARES = 1u;

fn nothing(phase: u32) -> vec2f {
  return vec2f();
}
fn join(phase: u32, a: vec2f, b: vec2f) -> vec2f {
  return a + b;
}
fn visit(phase: u32, at: u32, i: u32, pivot: f32) -> vec2f {
  let d = x_get(at) - pivot;
  return select(vec2f(d, d * d), vec2f(d, 0.0), phase == SUM);
}

@compute @workgroup_size(ROW_THREADS)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let row = row_index(wid, nwg, lid);
  if (row >= p.rows.count) {
    return;
  }
  let start = row_start(row);
  let length = f32(p.rows.length);
  var mean = 0.0;
  if (CENTERED) {
    mean = reduce_row(SUM, start, 0.0, lid).x / length;
  }
  let moments = reduce_row(SQUARES, start, mean, lid) / length;
  var variance = moments.y;
  if (CENTERED) {
    mean += moments.x;
    variance = moments.y - moments.x * moments.x;
    variance = select(variance, 0.0, variance < 0.0);  // what is not a number stays so
  }
  let scale = inverseSqrt(variance + p.eps);
  if (row_lane(lid) == 0u) {
    mean_put(row, mean_units(mean));
    rstd_put(row, rstd_units(scale));
  }
  let affine = (row % p.groups) * (p.rows.length / p.stride);
  for (var i = row_lane(lid); i < p.rows.length; i += LANES) {
    let at = start + row_offset(i);
    let k = affine + i / p.stride;
    y[at] = y_store((x_get(at) - mean) * scale * weight_get(k) + bias_get(k));
  }
}
