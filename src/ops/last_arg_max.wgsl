// The index of the largest element of one row, the first one if several are. One workgroup: each thread searches a
// stretch of every 256, then a tree in workgroup memory picks the best.
struct Params { first: u32, width: u32, k: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<i32>;

const SIZE = 256u;
var<workgroup> best: array<f32, SIZE>;
var<workgroup> place: array<u32, SIZE>;

@compute @workgroup_size(SIZE)
fn main(@builtin(local_invocation_index) lid: u32) {
  var value = -3.4e38;
  var at = 0xFFFFFFFFu;
  for (var i = lid; i < p.width; i += SIZE) {
    let v = f32(x_get(p.first + i));
    if (v > value || at == 0xFFFFFFFFu) {
      value = v;
      at = i;
    }
  }
  best[lid] = value;
  place[lid] = at;
  workgroupBarrier();
  for (var step = SIZE / 2u; step > 0u; step /= 2u) {
    if (lid < step) {
      let o = lid + step;
      if (place[o] != 0xFFFFFFFFu && (best[o] > best[lid] || (best[o] == best[lid] && place[o] < place[lid]))) {
        best[lid] = best[o];
        place[lid] = place[o];
      }
    }
    workgroupBarrier();
  }
  if (lid == 0u) {
    y[0] = i32(place[0]);
  }
}
