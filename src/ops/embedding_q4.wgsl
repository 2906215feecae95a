// Rows of a 4-bit table: y[t, e] = (q(index[t], e) − zero + SHIFT) · scale + minimum, with the numbers of row index[t] and
// group e / group. q is a nibble less 8 or, with PLANES, 16 of the first plane and one of the second. One thread per
// element. LINEAR: even e is the low nibble of its byte; otherwise the high one. TILED: the planes are laid out in
// blocks of 64 rows, and if HALVES, scales and minima too (q4_tiles.h). An index outside of the vocabulary is reported.
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
  second: u32,      // words between two planes
}
@group(0) @binding(0) var<uniform> p: Params;

fn nibble(first: u32, row: u32, e: u32) -> i32 {
  let byte = row * p.row_bytes + e / 2u;
  let tile_word = (row / 64u * (p.width / 8u) + e / 8u) * 64u + row % 64u;
  let word = w[first + select(byte / 4u, tile_word, TILED)];
  let place = select(byte % 4u * 2u + e % 2u, e % 8u, TILED);
  return i32((word >> (select(place ^ 1u, place, LINEAR) * 4u)) & 15u) - 8;
}

fn value(row: u32, e: u32) -> i32 {
  let q = nibble(0u, row, e);
  if (PLANES) {
    return 16 * q + nibble(p.second, row, e) + i32(SHIFT);
  }
  return q + i32(SHIFT);
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
  let row = u32(token);
  let group = e / p.group;
  let s = select(row * p.groups + group, (row / 64u * p.groups + group) * 64u + row % 64u, HALVES);
  y[i] = y_store((f32(value(row - p.first_row, e)) - f32(zero_get(s))) * scale_get(s) + minimum_get(s));
}
