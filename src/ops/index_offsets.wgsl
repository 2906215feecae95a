// offsets[i] += index[i] · stride, or = for the first of several indices: where in a tensor they point together. One
// thread per element of the shape that the indices broadcast to. An index outside of its axis is reported.
//! use grid divide walk
const AXIS_VECTORS = 2u;
struct Params {
  count: u32,
  rank: u32,
  size: u32,    // of the axis
  stride: u32,  // of that axis in the tensor
  fault: u32,
  first: u32,
  pad0: u32,
  pad1: u32,
  dims: array<vec4u, 2>,
  inverses: array<vec4u, 2>,
  strides: array<vec4u, 2>,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> index: array<i32>;
@group(0) @binding(2) var<storage, read_write> offsets: array<i32>;
@group(0) @binding(3) var<storage, read_write> faults: array<u32>;

fn walk_base(list: u32) -> u32 {
  return 0u;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let value = index[walk(0u, i)];
  var place = select(value, value + i32(p.size), value < 0);
  if (place < 0 || u32(place) >= p.size) {
    faults[2u * p.fault + 1u] = bitcast<u32>(value);
    faults[2u * p.fault] = 1u;
    place = 0;
  }
  let offset = place * i32(p.stride);
  offsets[i] = select(offsets[i] + offset, offset, p.first != 0u);
}
