// log Σ exp(x) of each row. One workgroup per row: the largest element first, so that no exponential overflows; then the
// sum of what the others are in relation to it. Each thread takes every 256th element, a tree joins what they have.
//! use grid nan
struct Params { first: u32, width: u32, rows: u32, k: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

const SIZE = 256u;
const LARGEST_FLOAT = 3.4028234663852886e38;
var<workgroup> parts: array<f32, SIZE>;

fn join_all(mine: f32, largest: bool, lid: u32) -> f32 {
  workgroupBarrier();  // the last result has been read by all
  parts[lid] = mine;
  workgroupBarrier();
  for (var step = SIZE / 2u; step > 0u; step /= 2u) {
    if (lid < step) {
      parts[lid] = select(parts[lid] + parts[lid + step], max(parts[lid], parts[lid + step]), largest);
    }
    workgroupBarrier();
  }
  return parts[0];
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let row = group_index(wid, nwg);
  if (row >= p.rows) {
    return;
  }
  let start = p.first + row * p.width;
  var mine = -LARGEST_FLOAT;
  for (var i = lid; i < p.width; i += SIZE) {
    mine = max(mine, f32(x_get(start + i)));
  }
  let largest = join_all(mine, true, lid);
  mine = 0.0;
  for (var i = lid; i < p.width; i += SIZE) {
    let v = f32(x_get(start + i)) - largest;
    mine += select(exp(v), v, is_nan(v));  // not all drivers' exp keeps a NaN
  }
  let sum = join_all(mine, false, lid);
  if (lid == 0u) {
    let several = select(largest + log(sum), largest, largest > LARGEST_FLOAT);  // an infinite one outweighs all others
    y[row] = select(several, f32(x_get(start)), sum == 0.0);  // all are −∞, whose logarithm drivers disagree about
  }
}
