// Arithmetic between int8 tensors: elements are dequantised, combined, and quantised again. y[i] takes a (and b) from
// where their strides lead. One thread per unit of the output.
//! variadic
//! use grid
struct Params {
  count: u32,
  rank: u32,
  a_scale: f32,
  a_zero: f32,
  b_scale: f32,
  b_zero: f32,
  alpha: f32,
  inverse_scale: f32,        // of the result
  zero: f32,
  pad0: u32,
  pad1: u32,
  pad2: u32,
  dims: array<vec4u, 2>,     // innermost first
  strides: array<vec4u, 4>,  // of a, then of b
}
@group(0) @binding(0) var<uniform> p: Params;

fn source(list: u32, i: u32) -> u32 {
  var rest = i;
  var offset = 0u;
  for (var axis = 0u; axis < p.rank; axis++) {
    let size = p.dims[axis / 4u][axis % 4u];
    offset += rest % size * p.strides[2u * list + axis / 4u][axis % 4u];
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
    let i = min(first + k, p.count - 1u);
    let a = (f32(a_get(source(0u, i))) - p.a_zero) * p.a_scale;
    v[k] = y_val(clamp(round(combine(a, i) * p.inverse_scale) + p.zero, -128.0, 127.0));
  }
  y_put(unit, v);
}
