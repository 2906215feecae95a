// A 4-bit linear with few rows (snippets/q4_split.wgsl) where subgroups add up what their threads have; LANES is 1. Which
// threads form a subgroup is the device's business, so the lowest of each speaks for it, and the first thread adds up
// what they say.
//! variadic
//! enable subgroups
//! use grid q4_linear q4_split
var<workgroup> partial: array<Sums, SIZE>;

fn reduce(mine: Sums, lid: u32) -> Sums {
  let sums = Sums(subgroupAdd(mine.v0), subgroupAdd(mine.v1), subgroupAdd(mine.squares));
  let speaks = subgroupMin(lid) == lid;
  if (speaks) {
    partial[lid] = sums;
  } else {
    partial[lid] = Sums();
  }
  workgroupBarrier();
  var all = Sums();
  if (lid == 0u) {
    for (var i = 0u; i < SIZE; i++) {
      all = add(all, partial[i]);
    }
  }
  return all;
}
