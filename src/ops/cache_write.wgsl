// Copies value[b, s, …] to cache[b, first + s, …]. One thread per element.
//! use grid
struct Params {
  count: u32,
  row: u32,          // elements per position
  positions: u32,    // of value
  capacity: u32,     // of cache
  first: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> value: array<value_store>;
@group(0) @binding(2) var<storage, read_write> cache: array<cache_store>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let e = i % p.row;
  let s = (i / p.row) % p.positions;
  let b = i / p.row / p.positions;
  cache[(b * p.capacity + p.first + s) * p.row + e] = cache_store(value_get(i));
}
