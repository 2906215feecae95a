// y[c] = x[c with one coordinate replaced by index[c]]: rows of a table, gathers. x is walked through without the replaced
// axis (list 0), the indices beside it (list 1). One thread for four neighbours of y; in ROWS they have the same index
// and lie in one quad of x. An index outside of the axis is reported. PARTS: only some rows of x are bound, and elements
// of y that come from others stay as they are.
//! use grid divide walk
const AXIS_VECTORS = 2u;
struct Params {
  count: u32,
  rank: u32,
  size: u32,       // of the replaced axis
  stride: u32,     // of that axis in x
  first_row: u32,  // of the rows of x that are bound
  rows: u32,
  fault: u32,
  pad: u32,
  dims: array<vec4u, 2>,
  inverses: array<vec4u, 2>,
  strides: array<vec4u, 4>,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read> index: array<i32>;
@group(0) @binding(3) var<storage, read_write> y: array<y_store>;
@group(0) @binding(4) var<storage, read_write> faults: array<u32>;

fn walk_base(list: u32) -> u32 {
  return 0u;
}

// The row of the bound ones that the index at this place means.
fn row_at(place: u32) -> u32 {
  let value = index[place];
  let row = select(value, value + i32(p.size), NEGATIVE && value < 0);
  if (row < 0 || u32(row) >= p.size) {
    faults[2u * p.fault + 1u] = bitcast<u32>(value);
    faults[2u * p.fault] = 1u;
    return 0u;
  }
  return u32(row) - p.first_row;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let q = group_index(wid, nwg) * 64u + lid;
  if (q * 4u >= p.count) {
    return;
  }
  if (ROWS) {
    let row = row_at(walk(1u, q * 4u));
    if (!PARTS || row < p.rows) {
      y_put(q, x_quad((walk(0u, q * 4u) + row * p.stride) / 4u));
    }
    return;
  }
  let starts = walk4(0u, q * 4u);
  let places = walk4(1u, q * 4u);
  var v: vec4<y_val>;
  if (PARTS) {
    v = y_quad(q);
  }
  for (var k = 0u; k < 4u; k++) {
    let row = row_at(places[k]);
    if (!PARTS || row < p.rows) {
      v[k] = x_get(starts[k] + row * p.stride);
    }
  }
  y_put(q, v);
}
