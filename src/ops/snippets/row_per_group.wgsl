// One workgroup per row: each thread joins every LANES-th element, then a tree joins what they have.
const ROW_THREADS = LANES;
var<workgroup> row_parts: array<State, LANES>;
fn row_index(wid: vec3u, nwg: vec3u, lid: u32) -> u32 {
  return group_index(wid, nwg);
}
fn row_lane(lid: u32) -> u32 {
  return lid;
}
fn row_total(phase: u32, mine: State, lid: u32) -> State {
  workgroupBarrier();  // the last total has been read by all
  row_parts[lid] = mine;
  workgroupBarrier();
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    if (lid < step) {
      row_parts[lid] = join(phase, row_parts[lid], row_parts[lid + step]);
    }
    workgroupBarrier();
  }
  return row_parts[0];
}
