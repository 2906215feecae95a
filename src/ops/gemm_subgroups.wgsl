// The matrix product where loads are dear and lanes can hand each other values: software adapters, for which a load costs
// as much as dozens of products. A workgroup is eight threads with the same 4 · ROW_BLOCKS rows; a thread makes
// 4 · COLUMN_BLOCKS columns of them. Of every eight rows (four where a subgroup has no more lanes) a lane loads one and
// passes it on.
//! enable subgroups
//! variadic
//! use grid gemm
const THREADS = 8u;

// Where sixteen rows of A start that a lane loads: two of them, or four.
struct Rows {
  r0: ARow,
  r1: ARow,
  r2: ARow,
  r3: ARow,
}

// Sixteen rows: of A, or of sums.
struct Sixteen {
  s0: Block,
  s1: Block,
  s2: Block,
  s3: Block,
}

fn from_first(mine: V4) -> Block {
  return Block(subgroupBroadcast(mine, 0u), subgroupBroadcast(mine, 1u), subgroupBroadcast(mine, 2u),
               subgroupBroadcast(mine, 3u));
}

fn from_second(mine: V4) -> Block {
  return Block(subgroupBroadcast(mine, 4u), subgroupBroadcast(mine, 5u), subgroupBroadcast(mine, 6u),
               subgroupBroadcast(mine, 7u));
}

fn rows_begin(batch: u32, row: u32, section: u32, lane: u32, shared_by: u32) -> Rows {
  let mine = row + lane % shared_by;
  return Rows(a_begin(batch, mine, section), a_begin(batch, mine + shared_by, section),
              a_begin(batch, mine + 2u * shared_by, section), a_begin(batch, mine + 3u * shared_by, section));
}

fn rows_load(at: Rows, step: u32, shared_by: u32) -> Sixteen {
  let a0 = a_load(at.r0, step);
  let a1 = a_load(at.r1, step);
  if (shared_by == 8u) {
    return Sixteen(from_first(a0), from_second(a0), from_first(a1), from_second(a1));
  }
  return Sixteen(from_first(a0), from_first(a1), from_first(a_load(at.r2, step)), from_first(a_load(at.r3, step)));
}

fn add_products(sums: Sixteen, a: Sixteen, b: Block) -> Sixteen {
  return Sixteen(add_product(sums.s0, a.s0, b), add_product(sums.s1, a.s1, b), add_product(sums.s2, a.s2, b),
                 add_product(sums.s3, a.s3, b));
}

fn put_rows(batch: u32, row: u32, column: u32, v: Sixteen) {
  put_block(batch, row, column, v.s0);
  put_block(batch, row + 4u, column, v.s1);
  put_block(batch, row + 8u, column, v.s2);
  put_block(batch, row + 12u, column, v.s3);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32,
        @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) lanes: u32) {
  let column_tiles = (p.columns + THREADS * TILE_COLUMNS - 1u) / (THREADS * TILE_COLUMNS);
  let row_tiles = (p.rows + TILE_ROWS - 1u) / TILE_ROWS;
  let tile = group_index(wid, nwg);
  let batch = tile / (row_tiles * column_tiles);
  if (batch >= p.batches) {
    return;
  }
  let shared_by = select(4u, 8u, lanes >= 8u);
  let row = tile / column_tiles % row_tiles * TILE_ROWS;
  let column = (tile % column_tiles * THREADS + lid) * TILE_COLUMNS;
  let place0 = b_place(batch, column);
  let place1 = b_place(batch, column + 4u);
  var sum00: Sixteen;
  var sum10: Sixteen;
  var sum01: Sixteen;
  var sum11: Sixteen;
  for (var sy = 0u; sy < p.sections_y; sy++) {
    for (var sx = 0u; sx < p.sections_x; sx++) {
      let section = section_of(sy, sx);
      let rows0 = rows_begin(batch, row, section, lane, shared_by);
      let rows1 = rows_begin(batch, row + 16u, section, lane, shared_by);
      let at0 = b_begin(place0, sy, sx);
      let at1 = b_begin(place1, sy, sx);
      for (var step = 0u; step < p.steps; step++) {
        let a0 = rows_load(rows0, step, shared_by);
        let b0 = b_load(at0, step);
        var b1: Block;
        sum00 = add_products(sum00, a0, b0);
        if (COLUMN_BLOCKS > 1u) {
          b1 = b_load(at1, step);
          sum01 = add_products(sum01, a0, b1);
        }
        if (ROW_BLOCKS > 4u) {
          let a1 = rows_load(rows1, step, shared_by);
          sum10 = add_products(sum10, a1, b0);
          if (COLUMN_BLOCKS > 1u) {
            sum11 = add_products(sum11, a1, b1);
          }
        }
      }
    }
  }
  put_rows(batch, row, column, sum00);
  if (COLUMN_BLOCKS > 1u) {
    put_rows(batch, row, column + 4u, sum01);
  }
  if (ROW_BLOCKS > 4u) {
    put_rows(batch, row + 16u, column, sum10);
    if (COLUMN_BLOCKS > 1u) {
      put_rows(batch, row + 16u, column + 4u, sum11);
    }
  }
}
