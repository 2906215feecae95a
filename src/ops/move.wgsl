// y[i] = x[base + Σ coordinate · stride]: slices, permutations, broadcasts, flips and the like. One thread per unit of
// the output; the coordinates are those of element i in `dims`.
//! use grid
struct Params {
  count: u32,
  rank: u32,
  base: u32,
  pad: u32,
  dims: array<vec4u, 4>,
  strides: array<vec4i, 4>,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

fn source(i: u32) -> u32 {
  var rest = i;
  var offset = i32(p.base);
  for (var d = p.rank; d > 0u; d--) {
    let axis = d - 1u;
    let size = p.dims[axis / 4u][axis % 4u];
    offset += i32(rest % size) * p.strides[axis / 4u][axis % 4u];
    rest /= size;
  }
  return u32(offset);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let unit = group_index(wid, nwg) * 64u + lid;
  let first = unit * y_unit;
  if (first >= p.count) {
    return;
  }
  var v: y_units;
  for (var k = 0u; k < y_unit; k++) {
    v[k] = x_get(source(min(first + k, p.count - 1u)));
  }
  y_put(unit, v);
}
