// Scale and zero point of blocks of x, from their least and greatest value. A workgroup serves as many blocks as it can
// write zero points at once (bytes: four), one after the other; its threads stride over the block and combine what they
// found in workgroup memory. The specialisation gives `choose`. The scale of what holds NaN is NaN.
//! use grid nan
struct Params {
  blocks: u32,
  block: u32,                // elements in a block
  rank: u32,
  low: f32,                  // of the quantised values
  high: f32,
  eps: f32,
  pad0: u32,
  pad1: u32,
  counts: array<vec4u, 2>,   // blocks along each axis, innermost first
  sizes: array<vec4u, 2>,    // of a block
  strides: array<vec4u, 2>,  // of x
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> scale: array<scale_store>;
@group(0) @binding(3) var<storage, read_write> zero: array<zero_store>;

const SIZE = 64u;
var<workgroup> ranges: array<vec3f, SIZE>;

struct Qparams {
  scale: f32,
  zero: f32,
}

fn block_start(index: u32) -> u32 {
  var rest = index;
  var at = 0u;
  for (var axis = 0u; axis < p.rank; axis++) {
    let count = p.counts[axis / 4u][axis % 4u];
    at += rest % count * p.sizes[axis / 4u][axis % 4u] * p.strides[axis / 4u][axis % 4u];
    rest /= count;
  }
  return at;
}

fn element_at(i: u32) -> u32 {
  var rest = i;
  var at = 0u;
  for (var axis = 0u; axis < p.rank; axis++) {
    let size = p.sizes[axis / 4u][axis % 4u];
    at += rest % size * p.strides[axis / 4u][axis % 4u];
    rest /= size;
  }
  return at;
}

fn join(a: vec3f, b: vec3f) -> vec3f {
  return vec3f(min(a.x, b.x), max(a.y, b.y), select(a.z, b.z, is_nan(b.z)));
}

// (least, greatest) of a block, and zero; then NaN if it holds that.
fn range_of(index: u32, lid: u32) -> vec3f {
  let start = block_start(index);
  var range = vec3f(0.0);
  for (var i = lid; i < p.block; i += SIZE) {
    range = join(range, vec3f(x_get(start + element_at(i))));
  }
  workgroupBarrier();  // until all have read the last block's
  ranges[lid] = range;
  workgroupBarrier();
  for (var span = SIZE / 2u; span > 0u; span /= 2u) {
    if (lid < span) {
      ranges[lid] = join(ranges[lid], ranges[lid + span]);
    }
    workgroupBarrier();
  }
  return ranges[0];
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let unit = group_index(wid, nwg);
  if (unit * zero_unit >= p.blocks) {
    return;
  }
  var zeros: zero_units;
  for (var k = 0u; k < zero_unit; k++) {
    let index = min(unit * zero_unit + k, p.blocks - 1u);
    let range = range_of(index, lid);
    let q = choose(range.xy);
    zeros[k] = zero_val(q.zero);
    if (lid == 0u) {
      scale[index] = scale_store(select(q.scale, range.z, is_nan(range.z)));
    }
  }
  if (lid == 0u) {
    zero_put(unit, zeros);
  }
}
