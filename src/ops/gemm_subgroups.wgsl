// The matrix product where loads are dear and lanes can hand each other values: software adapters, for which a load costs
// as much as dozens of products. A workgroup is eight threads with the same 16 rows; a thread makes 4 · COLUMN_BLOCKS
// columns of them. Of every four rows a lane loads one and passes it on, so that A is read by four lanes at once.
//! enable subgroups
//! variadic
//! use grid gemm
const THREADS = 8u;
const ROWS = 16u;

// Four rows of A, each from the lane that has loaded it. A subgroup has at least four.
fn shared_rows(mine: V4) -> Block {
  return Block(subgroupBroadcast(mine, 0u), subgroupBroadcast(mine, 1u), subgroupBroadcast(mine, 2u),
               subgroupBroadcast(mine, 3u));
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32,
        @builtin(subgroup_invocation_id) lane: u32) {
  let column_tiles = (p.columns + THREADS * TILE_COLUMNS - 1u) / (THREADS * TILE_COLUMNS);
  let row_tiles = (p.rows + ROWS - 1u) / ROWS;
  let tile = group_index(wid, nwg);
  let batch = tile / (row_tiles * column_tiles);
  if (batch >= p.batches) {
    return;
  }
  let row = tile / column_tiles % row_tiles * ROWS;
  let column = (tile % column_tiles * THREADS + lid) * TILE_COLUMNS;
  let mine = row + lane % 4u;
  let place0 = b_place(batch, column);
  let place1 = b_place(batch, column + 4u);
  var sum00: Block;
  var sum10: Block;
  var sum20: Block;
  var sum30: Block;
  var sum01: Block;
  var sum11: Block;
  var sum21: Block;
  var sum31: Block;
  for (var sy = 0u; sy < p.sections_y; sy++) {
    for (var sx = 0u; sx < p.sections_x; sx++) {
      let section = section_of(sy, sx);
      let row0 = a_begin(batch, mine, section);
      let row1 = a_begin(batch, mine + 4u, section);
      let row2 = a_begin(batch, mine + 8u, section);
      let row3 = a_begin(batch, mine + 12u, section);
      let at0 = b_begin(place0, sy, sx);
      let at1 = b_begin(place1, sy, sx);
      for (var step = 0u; step < p.steps; step++) {
        let a0 = shared_rows(a_load(row0, step));
        let a1 = shared_rows(a_load(row1, step));
        let a2 = shared_rows(a_load(row2, step));
        let a3 = shared_rows(a_load(row3, step));
        let b0 = b_load(at0, step);
        sum00 = add_product(sum00, a0, b0);
        sum10 = add_product(sum10, a1, b0);
        sum20 = add_product(sum20, a2, b0);
        sum30 = add_product(sum30, a3, b0);
        if (COLUMN_BLOCKS > 1u) {
          let b1 = b_load(at1, step);
          sum01 = add_product(sum01, a0, b1);
          sum11 = add_product(sum11, a1, b1);
          sum21 = add_product(sum21, a2, b1);
          sum31 = add_product(sum31, a3, b1);
        }
      }
    }
  }
  put_block(batch, row, column, sum00);
  put_block(batch, row + 4u, column, sum10);
  put_block(batch, row + 8u, column, sum20);
  put_block(batch, row + 12u, column, sum30);
  if (COLUMN_BLOCKS > 1u) {
    put_block(batch, row, column + 4u, sum01);
    put_block(batch, row + 4u, column + 4u, sum11);
    put_block(batch, row + 8u, column + 4u, sum21);
    put_block(batch, row + 12u, column + 4u, sum31);
  }
}
