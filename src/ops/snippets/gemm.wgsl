// What the kernels of the matrix-product family share. In every batch,
//   y[m, n] = finish(Σ_section Σ_k A[m, k] · B[k, n]),
// where k runs over the `depth` of a section in steps of four. A section is a tap of a convolution; other products have
// one. The specialisation chooses where A and B come from (a_*.wgsl, b_*.wgsl), and what becomes of the sums
// (finish.wgsl, put_*.wgsl). V is f32, or i32 where sums of integers must be exact.
alias V4 = vec4<V>;

struct Params {
  rows: u32,          // of y, per batch
  columns: u32,       // of the part of y that this dispatch makes
  batches: u32,
  width: u32,         // columns of all parts
  first_column: u32,
  sections_y: u32,
  sections_x: u32,
  steps: u32,         // of four k, per section
  depth: u32,
  a_batches: u32,     // batches share A if there are fewer of it
  a_batch: u32,       // strides, in elements
  a_row: u32,
  a_section: u32,
  a_step: u32,        // to the next k
  b_batch: u32,
  b_column: u32,
  b_step: u32,
  a_zero: i32,        // zero points of quantised operands
  b_zero: i32,
  group: u32,         // k per scale
  scale_stride: u32,
  addend_row: u32,    // strides of the matrix that is added
  addend_column: u32,
  factor: f32,
  beta: f32,
  low: f32,
  high: f32,
  inverse_scale: f32,  // of the quantised result
  zero: f32,
  in_height: u32,     // of the image that B is taken from
  in_width: u32,
  out_width: u32,
  stride_y: u32,
  stride_x: u32,
  pad_y: i32,
  pad_x: i32,
  dilation_y: i32,
  dilation_x: i32,
  in_depth: u32,      // where it is a volume: sections_y counts taps along the depth and, within them, the height
  out_height: u32,
  taps_y: u32,
  stride_z: u32,
  pad_z: i32,
  dilation_z: i32,
}
@group(0) @binding(0) var<uniform> p: Params;

// Four vectors: rows of A along k, or steps of B along n.
struct Block {
  r0: V4,
  r1: V4,
  r2: V4,
  r3: V4,
}

fn transposed(c: Block) -> Block {
  return Block(V4(c.r0.x, c.r1.x, c.r2.x, c.r3.x), V4(c.r0.y, c.r1.y, c.r2.y, c.r3.y),
               V4(c.r0.z, c.r1.z, c.r2.z, c.r3.z), V4(c.r0.w, c.r1.w, c.r2.w, c.r3.w));
}

// Adds a row of four k times B's four steps.
fn add_row(sum: V4, a: V4, b: Block) -> V4 {
  return sum + b.r0 * a.x + b.r1 * a.y + b.r2 * a.z + b.r3 * a.w;
}

fn add_product(sum: Block, a: Block, b: Block) -> Block {
  return Block(add_row(sum.r0, a.r0, b), add_row(sum.r1, a.r1, b), add_row(sum.r2, a.r2, b), add_row(sum.r3, a.r3, b));
}

// Four rows of y.
fn put_block(batch: u32, row: u32, column: u32, v: Block) {
  put(batch, row, column, v.r0);
  put(batch, row + 1u, column, v.r1);
  put(batch, row + 2u, column, v.r2);
  put(batch, row + 3u, column, v.r3);
}

fn section_of(y: u32, x: u32) -> u32 {
  return y * p.sections_x + x;
}
