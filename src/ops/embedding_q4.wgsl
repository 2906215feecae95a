// Rows of a 4-bit table: y[t, e] = (nibble(index[t], e) − 8 − zero) · scale, with scale and zero point of number
// index[t] · groups + e / group. One thread per element. LINEAR: even e is the low nibble of its byte; otherwise the high
// one. TILED: the table is laid out in blocks of 64 rows (q4_tiles.h). An index outside of the vocabulary is reported.
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

fn nibble(row: u32, e: u32) -> i32 {
  let byte = row * p.row_bytes + e / 2u;
  let tile_word = (row / 64u * (p.width / 8u) + e / 8u) * 64u + row % 64u;
  let word = w[select(byte / 4u, tile_word, TILED)];
  let place = select(byte % 4u * 2u + e % 2u, e % 8u, TILED);
  return i32((word >> (select(place ^ 1u, place, LINEAR) * 4u)) & 15u);
}

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
  let s = u32(token) * p.groups + e / p.group;
  y[i] = y_store((f32(nibble(u32(token) - p.first_row, e) - 8) - zero_of(s)) * scale_get(s));
}
