// A 4-bit linear with few rows (snippets/q4_split.wgsl) on any GPU: threads whose numbers are equal modulo LANES add their
// sums up in a tree in workgroup memory.
//! variadic
//! use grid q4_linear q4_split
var<workgroup> partial: array<Sums, SIZE>;

fn reduce(mine: Sums, lid: u32) -> Sums {
  partial[lid] = mine;
  workgroupBarrier();
  for (var span = SIZE / 2u; span >= LANES; span /= 2u) {
    if (lid < span) {
      partial[lid] = add(partial[lid], partial[lid + span]);
    }
    workgroupBarrier();
  }
  return partial[lid];
}
