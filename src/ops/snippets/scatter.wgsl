// What the kernels that scatter share: HOW elements of one place are joined, as in scatter.h, and where things are. The
// space of indices is walked through in the result (list 0), in the indices (list 1) and in the source (list 2).
const OVERWRITE = 0u;
const SUM = 1u;
const PRODUCT = 2u;
const LARGEST = 3u;
const SMALLEST = 4u;
const MEAN = 5u;
const AXIS_VECTORS = 2u;
struct Params {
  count: u32,  // of the result
  rank: u32,
  size: u32,    // of the indexed axis
  stride: u32,  // of that axis in the result
  fault: u32,
  number: u32,  // bits of what stands for a source
  source_count: u32,
  pad: u32,
  dims: array<vec4u, 2>,
  inverses: array<vec4u, 2>,
  strides: array<vec4u, 6>,
}
@group(0) @binding(0) var<uniform> p: Params;

fn walk_base(list: u32) -> u32 {
  return 0u;
}
fn join(a: V, b: V) -> V {
  if (HOW == SUM || HOW == MEAN) {
    return a + b;
  }
  if (HOW == PRODUCT) {
    return a * b;
  }
  if (is_nan(f32(a))) {
    return a;
  }
  if (is_nan(f32(b))) {
    return b;
  }
  return select(min(a, b), max(a, b), HOW == LARGEST);
}
