// y[row] = the mean of the squares of what a row's elements differ from their mean by. The specialisation binds x, y
// and perhaps `middle`, the means.
//! variadic
//! use grid rows
struct Params {
  rows: Rows,
  divisor: f32,  // the number of elements, corrected
}
@group(0) @binding(0) var<uniform> p: Params;

alias State = f32;

fn nothing(phase: u32) -> f32 {
  return 0.0;
}
fn join(phase: u32, a: f32, b: f32) -> f32 {
  return a + b;
}
fn visit(phase: u32, at: u32, i: u32, pivot: f32) -> f32 {
  let difference = x_get(at) - pivot;
  return select(difference, difference * difference, phase == 1u);
}
fn from_bits(bits: u32) -> f32 {
  return bitcast<f32>(bits);
}

@compute @workgroup_size(ROW_THREADS)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let row = row_index(wid, nwg, lid);
  if (row >= p.rows.count) {
    return;
  }
  let start = row_start(row);
  var mean = reduce_row(0u, start, 0.0, lid) / f32(max(p.rows.length, 1u));
  let squares = reduce_row(1u, start, mean, lid);
  var variance = squares / p.divisor;
  if (p.divisor <= 0.0) {
    variance = from_bits(select(0x7fc00000u, 0x7f800000u, squares > 0.0));
  }
  if (p.rows.length == 0u) {
    mean = from_bits(0x7fc00000u);
  }
  if (row_lane(lid) == 0u) {
    y[row] = y_store(variance);
    middle_put(row, middle_units(mean));
  }
}
