// y[row] = the sum (SUM), mean (SUM and MEAN), product (PRODUCT), largest (LARGEST) or smallest element of a row, or
// whether one is not zero (ANY). A NaN wins.
//! use grid rows nan
struct Params {
  rows: Rows,
  nothing: V,  // 0, 1, or the worst value
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

alias State = V;

fn nothing(phase: u32) -> V {
  return p.nothing;
}
fn join(phase: u32, a: V, b: V) -> V {
  if (SUM) {
    return a + b;
  }
  if (PRODUCT) {
    return a * b;
  }
  if (is_nan(f32(a))) {
    return a;
  }
  if (is_nan(f32(b))) {
    return b;
  }
  return select(min(a, b), max(a, b), LARGEST);
}
fn visit(phase: u32, at: u32, i: u32, pivot: f32) -> V {
  if (ANY) {  // by its bits, so that NaN counts
    return select(V(0), V(1), (bitcast<u32>(f32(x_get(at))) & 0x7FFFFFFFu) != 0u);
  }
  return V(x_get(at));
}

@compute @workgroup_size(ROW_THREADS)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let row = row_index(wid, nwg, lid);
  if (row >= p.rows.count) {
    return;
  }
  var total = reduce_row(0u, row_start(row), 0.0, lid);
  if (MEAN) {
    total /= V(p.rows.length);
  }
  if (row_lane(lid) == 0u) {
    y[row] = y_store(total);
  }
}
