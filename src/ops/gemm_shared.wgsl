// The matrix product through workgroup memory, for GPUs. A workgroup of 16 × 16 threads makes a tile of 64 × 64, a
// thread 4 × 4 of it. For every eight steps (32 k) one half of the threads copies A's rows into workgroup memory, the
// other half B's blocks; then all of them multiply from there. Rows and columns that overhang read valid memory and are
// not written.
//! variadic
//! use grid gemm
const TILE = 64u;
const STEPS = 8u;
var<workgroup> a_tile: array<V4, 512>;  // [step][row]
var<workgroup> b_tile: array<V4, 512>;  // [step][k of the step][block of four columns]

fn stage_a(at: ARow, half_row: u32, first_step: u32) {
  for (var i = 0u; i < 4u; i++) {
    let step = (half_row & 1u) * 4u + i;
    a_tile[step * TILE + half_row / 2u] = select(V4(), a_load(at, first_step + step), first_step + step < p.steps);
  }
}

fn stage_b(at: BColumns, block: u32, first_step: u32) {
  let step = block / 16u;
  var b = Block();
  if (first_step + step < p.steps) {
    b = b_load(at, first_step + step);
  }
  let to = step * TILE + block % 16u;
  b_tile[to] = b.r0;
  b_tile[to + 16u] = b.r1;
  b_tile[to + 32u] = b.r2;
  b_tile[to + 48u] = b.r3;
}

fn multiply(sum: Block, row: u32, block: u32) -> Block {
  var out = sum;
  for (var step = 0u; step < STEPS; step++) {
    let a = step * TILE + row;
    let b = step * TILE + block;
    out = add_product(out, Block(a_tile[a], a_tile[a + 1u], a_tile[a + 2u], a_tile[a + 3u]),
                      Block(b_tile[b], b_tile[b + 16u], b_tile[b + 32u], b_tile[b + 48u]));
  }
  return out;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let column_tiles = (p.columns + TILE - 1u) / TILE;
  let row_tiles = (p.rows + TILE - 1u) / TILE;
  let tile = group_index(wid, nwg);
  let batch = tile / (row_tiles * column_tiles);
  if (batch >= p.batches) {
    return;
  }
  let row = tile / column_tiles % row_tiles * TILE;
  let column = tile % column_tiles * TILE;
  let loads_a = lid < 128u;
  let part = lid % 128u;
  let place = b_place(batch, column + part % 16u * 4u);
  var sum: Block;
  for (var sy = 0u; sy < p.sections_y; sy++) {
    for (var sx = 0u; sx < p.sections_x; sx++) {
      let a_at = a_begin(batch, row + part / 2u, section_of(sy, sx));
      let b_at = b_begin(place, sy, sx);
      for (var first = 0u; first < p.steps; first += STEPS) {
        if (loads_a) {
          stage_a(a_at, part, first);
        } else {
          stage_b(b_at, part, first);
        }
        workgroupBarrier();
        sum = multiply(sum, lid / 16u * 4u, lid % 16u);
        workgroupBarrier();
      }
    }
  }
  let m = row + lid / 16u * 4u;
  let n = column + lid % 16u * 4u;
  put_block(batch, m, n, sum);
}
