// y[row] = index of the largest (LARGEST) or smallest element of a row: the first one if several are, the first NaN if
// there is one. The specialisation binds x and y and perhaps `best`, the elements themselves.
//! variadic
//! use grid rows nan
struct Params { rows: Rows }
@group(0) @binding(0) var<uniform> p: Params;

const NOWHERE = 0xFFFFFFFFu;
struct State {
  value: V,
  at: u32,
}

fn nothing(phase: u32) -> State {
  return State(V(), NOWHERE);
}
fn join(phase: u32, a: State, b: State) -> State {
  if (a.at == NOWHERE || b.at == NOWHERE) {
    if (a.at == NOWHERE) {
      return b;
    }
    return a;
  }
  let a_nan = is_nan(f32(a.value));
  let b_nan = is_nan(f32(b.value));
  let tie = (a_nan && b_nan) || a.value == b.value;
  let better = select(b.value > a.value, a.value > b.value, LARGEST);
  if (select(!b_nan && (a_nan || better), a.at < b.at, tie)) {
    return a;
  }
  return b;
}
fn visit(phase: u32, at: u32, i: u32, pivot: f32) -> State {
  return State(V(x_get(at)), i);
}

@compute @workgroup_size(ROW_THREADS)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let row = row_index(wid, nwg, lid);
  if (row >= p.rows.count) {
    return;
  }
  let best = reduce_row(0u, row_start(row), 0.0, lid);
  if (row_lane(lid) == 0u) {
    y[row] = i32(best.at);
    best_put(row, best_units(best.value));
  }
}
