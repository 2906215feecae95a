// Puts the splits of attention together. One thread per (batch, head, query, element): it finds the largest of the
// splits' maxima and adds their values up, scaled to it.
//! use grid
struct Params {
  count: u32,    // batch · heads · queries · dim
  dim: u32,      // of a value
  splits: u32,
  heads: u32,
  queries: u32,
  batch_stride: u32,
  head_stride: u32,
  query_stride: u32,
  quiet: u32,    // 1: a query that sees no key has zeros as its answer, else NaN
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> partial: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let index = group_index(wid, nwg) * 64u + lid;
  if (index >= p.count) {
    return;
  }
  let d = index % p.dim;
  let row = index / p.dim;
  let stride = p.dim + 2u;
  let base = row * p.splits * stride;
  var top = -3.4028234663852886e38;
  for (var s = 0u; s < p.splits; s++) {
    top = max(top, partial[base + s * stride]);
  }
  var sum = 0.0;
  var value = 0.0;
  for (var s = 0u; s < p.splits; s++) {
    let at = base + s * stride;
    let weight = exp(partial[at] - top);
    sum += weight * partial[at + 1u];
    value += weight * partial[at + 2u + d];
  }
  let query = row % p.queries;
  let head = (row / p.queries) % p.heads;
  let batch = row / p.queries / p.heads;
  y[batch * p.batch_stride + head * p.head_stride + query * p.query_stride + d] =
      y_store(select(value / sum, 0.0, p.quiet == 1u && sum == 0.0));
}
