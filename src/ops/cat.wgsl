// Puts one input of a concatenation in its place: y[outer, first + a, inner] = x[outer, a, inner]. One thread per
// element of x or, where four elements share a word (PACKED), one per word of y, which keeps the other inputs' bytes.
//! use grid
struct Params {
  count: u32,      // threads
  inner: u32,
  size: u32,       // of x along the axis
  total: u32,      // of y along the axis
  first: u32,
  elements: u32,   // of y
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

fn put_word(word: u32) {
  var v: y_units;
  for (var k = 0u; k < y_unit; k++) {
    let i = word * y_unit + k;
    let a = (i / p.inner) % p.total;
    if (i < p.elements && a >= p.first && a < p.first + p.size) {
      let outer = i / p.inner / p.total;
      v[k] = x_get((outer * p.size + a - p.first) * p.inner + i % p.inner);
    } else {
      v[k] = y_get(i);
    }
  }
  y_put(word, v);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  if (PACKED) {
    put_word(i);
    return;
  }
  let row = p.size * p.inner;
  let outer = i / row;
  var v: y_units;
  v[0] = x_get(i);
  y_put((outer * p.total + p.first) * p.inner + i % row, v);
}
