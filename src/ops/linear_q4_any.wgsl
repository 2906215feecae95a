// y[m, n] = Σ_k x[m, k] · (nibble(n, k) − 8) · scale[k / group, n] + bias[n]. One thread per output; it walks the row
// of weights word by word (eight k at a time).
//! use grid q4
struct Params {
  rows: u32,          // M
  columns: u32,       // N, of all
  depth: u32,         // K
  row_words: u32,     // of the packed weights, per n
  group: u32,
  scale_stride: u32,  // scales per group
  first_column: u32,  // of the part of the weights that is bound
  part_columns: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read> w: array<u32>;
@group(0) @binding(3) var<storage, read> scales: array<scales_store>;
@group(0) @binding(4) var<storage, read> bias: array<bias_store>;
@group(0) @binding(5) var<storage, read_write> y: array<y_store>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.rows * p.part_columns) {
    return;
  }
  let part_n = i % p.part_columns;
  let n = p.first_column + part_n;
  let m = i / p.part_columns;
  var sum = 0.0;
  for (var g = 0u; g * p.group < p.depth; g++) {
    let first = g * p.group;
    let last = min(first + p.group, p.depth);
    var partial = 0.0;
    for (var k = first; k < last; k++) {
      partial += x_get(m * p.depth + k) * q4_one(w[part_n * p.row_words + k / 8u], k & 7u);
    }
    sum += partial * scales_get(g * p.scale_stride + n);
  }
  if (HAS_BIAS) {
    sum += bias_get(n);
  }
  y[m * p.columns + n] = y_store(sum);
}
