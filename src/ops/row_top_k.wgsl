// The k largest elements of each row, best first. One workgroup per row; k rounds, each a search of the whole row for the
// best element behind the one found last (smaller, or equal with a larger index).
//! use grid best_of
struct Params { first: u32, width: u32, rows: u32, k: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> values: array<f32>;
@group(0) @binding(3) var<storage, read_write> indices: array<i32>;

var<workgroup> found_value: f32;
var<workgroup> found_place: u32;

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let row = group_index(wid, nwg);
  if (row >= p.rows) {
    return;
  }
  let start = p.first + row * p.width;
  for (var round = 0u; round < p.k; round++) {
    var value = 0.0;
    var at = NOWHERE;
    for (var i = lid; i < p.width; i += SIZE) {
      let v = f32(x_get(start + i));
      let behind = round == 0u || v < found_value || (v == found_value && i > found_place);
      if (behind && (at == NOWHERE || v > value)) {
        value = v;
        at = i;
      }
    }
    pick_best(value, at, lid);
    if (lid == 0u) {
      found_value = best[0];
      found_place = place[0];
      values[row * p.k + round] = best[0];
      indices[row * p.k + round] = i32(place[0]);
    }
    workgroupBarrier();
  }
}
