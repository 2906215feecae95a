// Rows of a table, joined bag by bag: bag b is indices[offsets[b]] to indices[offsets[b + 1]], the last one up to the end.
// MODE: their sum, mean or largest. One thread per element of a bag's result. An index outside of the table is reported;
// p.skipped is one that does not count. The specialisation binds weights, by which rows of the sum count, or none.
//! variadic
//! use grid
struct Params {
  count: u32,
  width: u32,
  bags: u32,      // with offsets
  indices: u32,
  size: u32,      // rows of the table
  skipped: i32,   // or −1
  fault: u32,
}
@group(0) @binding(0) var<uniform> p: Params;

const MEAN = 1u;
const LARGEST = 2u;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let bag = i / p.width;
  let first = min(u32(max(offsets_get(bag), 0)), p.indices);
  var end = p.indices;
  if (bag + 1u < p.bags) {
    end = min(u32(max(offsets_get(bag + 1u), 0)), p.indices);
  }
  var total = 0.0;
  var rows = 0u;
  for (var k = first; k < end; k++) {
    let row = index_get(k);
    if (row < 0 || u32(row) >= p.size) {
      faults[2u * p.fault + 1u] = bitcast<u32>(row);
      faults[2u * p.fault] = 1u;
    } else if (row != p.skipped) {
      let v = table_get(u32(row) * p.width + i % p.width);
      total = select(total + v * weights_get(k), select(total, v, rows == 0u || v > total), MODE == LARGEST);
      rows++;
    }
  }
  if (MODE == MEAN) {
    total /= f32(max(rows, 1u));
  }
  y[i] = y_store(select(total, 0.0, rows == 0u));
}
