// The index of the largest element of one row, the first one if several are. One workgroup: each thread searches every
// 256th element, then they pick the best.
//! use best_of
struct Params { first: u32, width: u32, k: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<i32>;

@compute @workgroup_size(SIZE)
fn main(@builtin(local_invocation_index) lid: u32) {
  var value = 0.0;
  var at = NOWHERE;
  for (var i = lid; i < p.width; i += SIZE) {
    let v = f32(x_get(p.first + i));
    if (at == NOWHERE || v > value) {
      value = v;
      at = i;
    }
  }
  pick_best(value, at, lid);
  if (lid == 0u) {
    y[0] = i32(place[0]);
  }
}
