// What a workgroup of 64 threads has together, for all of its threads: a tree in workgroup memory.
const SIZE = 64u;
var<workgroup> tree: array<f32, SIZE>;

fn largest(mine: f32, lid: u32) -> f32 {
  workgroupBarrier();  // the last result has been read by all
  tree[lid] = mine;
  workgroupBarrier();
  for (var span = SIZE / 2u; span > 0u; span /= 2u) {
    if (lid < span) {
      tree[lid] = max(tree[lid], tree[lid + span]);
    }
    workgroupBarrier();
  }
  return tree[0];
}
fn total(mine: f32, lid: u32) -> f32 {
  workgroupBarrier();
  tree[lid] = mine;
  workgroupBarrier();
  for (var span = SIZE / 2u; span > 0u; span /= 2u) {
    if (lid < span) {
      tree[lid] += tree[lid + span];
    }
    workgroupBarrier();
  }
  return tree[0];
}
