// y[row, i] = the sum (or PRODUCT) of x[row, 0 … i]. A thread takes a row or, if SHARED, a workgroup does: each thread
// then takes a chunk of neighbours, adds it up, learns from the others what stands in front of it and goes through it
// once more. What a thread has so far is kept apart from the last few elements, so that rounding errors grow slowly.
//! use grid
struct Params {
  rows: u32,
  length: u32,
  stride: u32,  // between neighbours of a row
  chunk: u32,   // elements of a thread
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

const FEW = 64u;
var<workgroup> totals: array<V, THREADS>;

fn nothing() -> V {
  return select(V(0), V(1), PRODUCT);
}
fn join(a: V, b: V) -> V {
  return select(a + b, a * b, PRODUCT);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let group = group_index(wid, nwg);
  let row = select(group * THREADS + lid, group, SHARED);
  let first = select(0u, min(lid * p.chunk, p.length), SHARED);
  let last = select(first, min(first + p.chunk, p.length), row < p.rows);
  let base = row / p.stride * p.length * p.stride + row % p.stride;
  var total = nothing();
  var recent = nothing();
  if (SHARED) {
    for (var i = first; i < last; i++) {
      recent = join(recent, V(x_get(base + i * p.stride)));
      if ((i - first) % FEW == FEW - 1u) {
        total = join(total, recent);
        recent = nothing();
      }
    }
    totals[lid] = join(total, recent);
    workgroupBarrier();
    total = nothing();
    for (var before = 0u; before < lid; before++) {
      total = join(total, totals[before]);
    }
  }
  recent = nothing();
  for (var i = first; i < last; i++) {
    let at = base + i * p.stride;
    recent = join(recent, V(x_get(at)));
    y[at] = y_store(join(total, recent));
    if ((i - first) % FEW == FEW - 1u) {
      total = join(total, recent);
      recent = nothing();
    }
  }
}
