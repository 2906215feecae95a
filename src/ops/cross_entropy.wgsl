// Per row of logits: its loss, log Σ exp − logit[label], and the gradient (softmax − onehot), both divided by the number
// of rows that count. A negative label makes a row not count. One workgroup per row; its threads stride over it three
// times: for the maximum, for the sum, for the gradient. A label beyond the row is reported.
//! use grid group_tree
struct Params {
  rows: u32,
  width: u32,
  inverse_count: f32,
  fault: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read> labels: array<i32>;
@group(0) @binding(3) var<storage, read_write> losses: array<f32>;
@group(0) @binding(4) var<storage, read_write> dx: array<dx_store>;
@group(0) @binding(5) var<storage, read_write> faults: array<u32>;

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let row = group_index(wid, nwg);
  if (row >= p.rows) {
    return;
  }
  let base = row * p.width;
  let label = labels[row];
  if (lid == 0u && label >= i32(p.width)) {
    faults[2u * p.fault + 1u] = bitcast<u32>(label);
    faults[2u * p.fault] = 1u;
  }
  var top = x_get(base);
  for (var i = lid; i < p.width; i += SIZE) {
    top = max(top, x_get(base + i));
  }
  top = largest(top, lid);
  var sum = 0.0;
  for (var i = lid; i < p.width; i += SIZE) {
    sum += exp(x_get(base + i) - top);
  }
  sum = total(sum, lid);
  for (var i = lid; i < p.width; i += SIZE) {
    let hit = select(0.0, 1.0, i32(i) == label);
    dx[base + i] = dx_store(select(0.0, (exp(x_get(base + i) - top) / sum - hit) * p.inverse_count, label >= 0));
  }
  if (lid == 0u) {
    let picked = x_get(base + u32(clamp(label, 0, i32(p.width) - 1)));
    losses[row] = select(0.0, (log(sum) + top - picked) * p.inverse_count, label >= 0);
  }
}
