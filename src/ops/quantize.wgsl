// y[i] = convert(x[i], scale, zero), where the elements of a block share a scale and a zero point. One thread per unit of
// the output. The specialisation binds the tensors and says whether elements are quantised or the other way round.
//! variadic
//! use grid
struct Params {
  count: u32,
  rank: u32,
  scale: f32,                // where one holds for all
  inverse_scale: f32,
  zero: f32,
  low: f32,                  // of the quantised values
  high: f32,
  pad: u32,
  dims: array<vec4u, 2>,     // of x, innermost first
  blocks: array<vec4u, 2>,   // sizes of a block
  strides: array<vec4u, 2>,  // between blocks, in the list of scales
}
@group(0) @binding(0) var<uniform> p: Params;

fn block_of(i: u32) -> u32 {
  var rest = i;
  var block = 0u;
  for (var axis = 0u; axis < p.rank; axis++) {
    let size = p.dims[axis / 4u][axis % 4u];
    block += rest % size / p.blocks[axis / 4u][axis % 4u] * p.strides[axis / 4u][axis % 4u];
    rest /= size;
  }
  return block;
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
    v[k] = convert(f32(x_get(i)), block_of(i));
  }
  y_put(unit, v);
}
