// y[i] = element(i): an expression over inputs that broadcast to the output. One thread per unit of the output. The
// specialisation binds the inputs and gives `element`.
//! variadic
//! use grid
struct Params {
  count: u32,
  rank: u32,
  s0: V,
  s1: V,
  dims: array<vec4u, 2>,      // of the output, merged where all inputs allow it
  strides: array<vec4u, 12>,  // of up to six inputs, two vectors each
}
@group(0) @binding(0) var<uniform> p: Params;

// Where element i of the output comes from in a strided input.
fn strided(input: u32, i: u32) -> u32 {
  var rest = i;
  var offset = 0u;
  for (var d = p.rank; d > 0u; d--) {
    let axis = d - 1u;
    let size = p.dims[axis / 4u][axis % 4u];
    offset += (rest % size) * p.strides[input * 2u + axis / 4u][axis % 4u];
    rest /= size;
  }
  return offset;
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
    v[k] = element(min(first + k, p.count - 1u));
  }
  y_put(unit, v);
}
