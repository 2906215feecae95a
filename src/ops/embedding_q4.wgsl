// Rows of a 4-bit table: y[t, e] = (nibble(index[t], e) − 8) · scale[index[t], e / group]. One thread per element.
// LINEAR: even e is the low nibble of its byte; otherwise the high one. An index outside of the vocabulary is reported.
//! use grid
struct Params {
  count: u32,
  width: u32,       // E
  row_words: u32,   // of the packed table, per token
  groups: u32,      // scales per token
  group: u32,
  vocabulary: u32,
  first_row: u32,   // of the part of the table that is bound
  rows: u32,
  fault: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> w: array<u32>;
@group(0) @binding(2) var<storage, read> scales: array<scales_store>;
@group(0) @binding(3) var<storage, read> index: array<i32>;
@group(0) @binding(4) var<storage, read_write> y: array<y_store>;
@group(0) @binding(5) var<storage, read_write> faults: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let e = i % p.width;
  let token = index[i / p.width];
  if (token < 0 || u32(token) >= p.vocabulary) {
    faults[2u * p.fault + 1u] = bitcast<u32>(token);
    faults[2u * p.fault] = 1u;
    return;
  }
  if (u32(token) < p.first_row || u32(token) >= p.first_row + p.rows) {
    return;
  }
  let row = u32(token) - p.first_row;
  let word = w[row * p.row_words + e / 8u];
  let nibble = select(e ^ 1u, e, LINEAR) & 7u;
  y[i] = y_store((f32((word >> (nibble * 4u)) & 15u) - 8.0) * scales_get(u32(token) * p.groups + e / p.group));
}
