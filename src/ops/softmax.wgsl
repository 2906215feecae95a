// y = exp(x - max) / Σ exp(x - max) of each row, or its logarithm (LOG). −inf counts as nothing, as masks use it; a row
// of nothing else is NaN, as in torch.
//! use grid rows nan
struct Params {
  rows: Rows,
  nan: f32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

alias State = f32;
const LARGEST = 0u;
const SUM = 1u;
const LOWEST = -3.4028234663852886e38;

fn nothing(phase: u32) -> f32 {
  return select(0.0, LOWEST, phase == LARGEST);
}
fn join(phase: u32, a: f32, b: f32) -> f32 {
  return select(a + b, max(a, b), phase == LARGEST);
}
fn visit(phase: u32, at: u32, i: u32, pivot: f32) -> f32 {
  if (phase == LARGEST) {
    return x_get(at);
  }
  let v = x_get(at) - pivot;
  return select(exp(v), v, is_nan(v));  // not all drivers' exp keeps a NaN
}

@compute @workgroup_size(ROW_THREADS)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let row = row_index(wid, nwg, lid);
  if (row >= p.rows.count) {
    return;
  }
  let start = row_start(row);
  let largest = reduce_row(LARGEST, start, 0.0, lid);
  let sum = reduce_row(SUM, start, largest, lid);
  let log_sum = log(sum);
  let broken = sum == 0.0 || is_nan(sum);
  for (var i = row_lane(lid); i < p.rows.length; i += LANES) {
    let at = start + row_offset(i);
    let v = x_get(at) - largest;
    let result = select(exp(v) / sum, v - log_sum, LOG);
    y[at] = y_store(select(result, p.nan, broken));
  }
}
