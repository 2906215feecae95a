// The index of the largest element of each row, the first one if several are. One workgroup per row: each thread searches
// every 256th element, then they pick the best.
//! use grid best_of
struct Params { first: u32, width: u32, rows: u32, k: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<i32>;

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let row = group_index(wid, nwg);
  if (row >= p.rows) {
    return;
  }
  let start = p.first + row * p.width;
  var value = 0.0;
  var at = NOWHERE;
  for (var i = lid; i < p.width; i += SIZE) {
    let v = f32(x_get(start + i));
    if (at == NOWHERE || v > value) {
      value = v;
      at = i;
    }
  }
  pick_best(value, at, lid);
  if (lid == 0u) {
    y[row] = i32(place[0]);
  }
}
