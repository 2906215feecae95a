// y = x with the marked elements replaced by the first ones of the source, in order: ranks[i] tells how many are marked
// up to element i. One thread for four neighbours. More marked ones than the source has are reported.
//! use grid
struct Params {
  count: u32,
  available: u32,
  fault: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read> mask: array<mask_store>;
@group(0) @binding(3) var<storage, read> ranks: array<i32>;
@group(0) @binding(4) var<storage, read> source: array<source_store>;
@group(0) @binding(5) var<storage, read_write> y: array<y_store>;
@group(0) @binding(6) var<storage, read_write> faults: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let q = group_index(wid, nwg) * 64u + lid;
  if (q * 4u >= p.count) {
    return;
  }
  var v = x_quad(q);
  let marked = mask_quad(q);
  for (var k = 0u; k < 4u && q * 4u + k < p.count; k++) {
    if (marked[k] != 0) {
      let rank = u32(ranks[q * 4u + k]);
      if (rank > p.available) {
        faults[2u * p.fault + 1u] = rank;
        faults[2u * p.fault] = 1u;
      } else {
        v[k] = source_get(rank - 1u);
      }
    }
  }
  y_put(q, v);
}
