// One thread per row.
const ROW_THREADS = 64u;
fn row_index(wid: vec3u, nwg: vec3u, lid: u32) -> u32 {
  return group_index(wid, nwg) * ROW_THREADS + lid;
}
fn row_lane(lid: u32) -> u32 {
  return 0u;
}
fn row_total(phase: u32, mine: State, lid: u32) -> State {
  return mine;
}
