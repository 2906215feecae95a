// The matrix product without workgroup memory: every thread keeps a tile of y in registers, of 4 · ROW_BLOCKS rows (one
// row if ROW_BLOCKS is 0) and 4 · COLUMN_BLOCKS columns, so that each value it loads is used several times. Neighbouring
// threads have neighbouring columns. Best on CPUs, where workgroup memory and barriers cost more than loads.
//! variadic
//! use grid gemm
struct Rows {
  r0: ARow,
  r1: ARow,
  r2: ARow,
  r3: ARow,
}

fn rows_begin(batch: u32, row: u32, section: u32) -> Rows {
  return Rows(a_begin(batch, row, section), a_begin(batch, row + 1u, section), a_begin(batch, row + 2u, section),
              a_begin(batch, row + 3u, section));
}

fn rows_load(at: Rows, step: u32) -> Block {
  return Block(a_load(at.r0, step), a_load(at.r1, step), a_load(at.r2, step), a_load(at.r3, step));
}

fn one_row(batch: u32, row: u32, column: u32) {
  let place0 = b_place(batch, column);
  let place1 = b_place(batch, column + 4u);
  var sum0: V4;
  var sum1: V4;
  for (var sy = 0u; sy < p.sections_y; sy++) {
    for (var sx = 0u; sx < p.sections_x; sx++) {
      let at = a_begin(batch, row, section_of(sy, sx));
      let at0 = b_begin(place0, sy, sx);
      let at1 = b_begin(place1, sy, sx);
      for (var step = 0u; step < p.steps; step++) {
        let a = a_load(at, step);
        sum0 = add_row(sum0, a, b_load(at0, step));
        if (COLUMN_BLOCKS > 1u) {
          sum1 = add_row(sum1, a, b_load(at1, step));
        }
      }
    }
  }
  put(batch, row, column, sum0);
  if (COLUMN_BLOCKS > 1u) {
    put(batch, row, column + 4u, sum1);
  }
}

fn one_tile(batch: u32, row: u32, column: u32) {
  let place0 = b_place(batch, column);
  let place1 = b_place(batch, column + 4u);
  var sum00: Block;
  var sum01: Block;
  var sum10: Block;
  var sum11: Block;
  for (var sy = 0u; sy < p.sections_y; sy++) {
    for (var sx = 0u; sx < p.sections_x; sx++) {
      let rows0 = rows_begin(batch, row, section_of(sy, sx));
      let rows1 = rows_begin(batch, row + 4u, section_of(sy, sx));
      let at0 = b_begin(place0, sy, sx);
      let at1 = b_begin(place1, sy, sx);
      for (var step = 0u; step < p.steps; step++) {
        let a0 = rows_load(rows0, step);
        let b0 = b_load(at0, step);
        sum00 = add_product(sum00, a0, b0);
        if (ROW_BLOCKS > 1u && COLUMN_BLOCKS > 1u) {
          let a1 = rows_load(rows1, step);
          let b1 = b_load(at1, step);
          sum01 = add_product(sum01, a0, b1);
          sum10 = add_product(sum10, a1, b0);
          sum11 = add_product(sum11, a1, b1);
        }
      }
    }
  }
  put_block(batch, row, column, sum00);
  if (ROW_BLOCKS > 1u && COLUMN_BLOCKS > 1u) {
    put_block(batch, row, column + 4u, sum01);
    put_block(batch, row + 4u, column, sum10);
    put_block(batch, row + 4u, column + 4u, sum11);
  }
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let column_tiles = (p.columns + TILE_COLUMNS - 1u) / TILE_COLUMNS;
  let row_tiles = (p.rows + TILE_ROWS - 1u) / TILE_ROWS;
  let tile = group_index(wid, nwg) * SIZE + lid;
  let batch = tile / (row_tiles * column_tiles);
  if (batch >= p.batches) {
    return;
  }
  let row = tile / column_tiles % row_tiles * TILE_ROWS;
  let column = tile % column_tiles * TILE_COLUMNS;
  if (ROW_BLOCKS == 0u) {
    one_row(batch, row, column);
  } else {
    one_tile(batch, row, column);
  }
}
