// Undoes the folding of a workgroup count over the limit per dimension. The last row may overshoot: check the bound.
fn group_index(wid: vec3u, nwg: vec3u) -> u32 {
  return wid.y * nwg.x + wid.x;
}
