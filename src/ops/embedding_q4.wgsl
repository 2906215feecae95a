// Rows of a 4-bit table: y[t, e] = (nibble(index[t], e) − 8 − zero) · scale, with scale and zero point of number
// index[t] · groups + e / group. One thread per element. LINEAR: even e is the low nibble of its byte; otherwise the high
// one. An index outside of the vocabulary is reported.
//! variadic
//! use grid
struct Params {
  count: u32,
  width: u32,       // E
  row_bytes: u32,   // of the packed table, per token
  groups: u32,      // scales per token
  group: u32,
  vocabulary: u32,
  first_row: u32,   // of the part of the table that is bound
  rows: u32,
  fault: u32,
}
@group(0) @binding(0) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let e = i % p.width;
  let token = index_get(i / p.width);
  if (token < 0 || u32(token) >= p.vocabulary) {
    faults[2u * p.fault + 1u] = token;
    faults[2u * p.fault] = 1;
    return;
  }
  if (u32(token) < p.first_row || u32(token) >= p.first_row + p.rows) {
    return;
  }
  let byte = w_get((u32(token) - p.first_row) * p.row_bytes + e / 2u);
  let nibble = select(byte >> 4u, byte & 15, ((e & 1u) == 0u) == LINEAR);
  let s = u32(token) * p.groups + e / p.group;
  y[i] = y_store((f32(nibble - 8) - zero_of(s)) * scale_get(s));
}
