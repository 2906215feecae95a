// A 4-bit linear in registers (snippets/q4_registers.wgsl) where loads are dear and lanes can hand each other values:
// software adapters. A workgroup is eight threads with the same rows. Each loads four k of one row and passes them on, so that
// a word of four rows is one load, or two where a subgroup has only four lanes.
//! enable subgroups
//! variadic
//! use grid swiglu q4_linear q4_registers

fn from_lanes(mine: vec4f, first: u32) -> mat4x4f {
  if (first == 0u) {
    return mat4x4f(subgroupBroadcast(mine, 0u), subgroupBroadcast(mine, 1u), subgroupBroadcast(mine, 2u),
                   subgroupBroadcast(mine, 3u));
  }
  return mat4x4f(subgroupBroadcast(mine, 4u), subgroupBroadcast(mine, 5u), subgroupBroadcast(mine, 6u),
                 subgroupBroadcast(mine, 7u));
}

fn four_rows(first: u32, word: u32, own: u32) -> Four {
  let row = min(first + own % 4u, p.rows - 1u);
  if (EIGHT_LANES) {
    let mine = x4(row, word * 2u + own / 4u % 2u);
    return Four(from_lanes(mine, 0u), from_lanes(mine, 4u));
  }
  return Four(from_lanes(x4(row, word * 2u), 0u), from_lanes(x4(row, word * 2u + 1u), 0u));
}

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32,
        @builtin(subgroup_invocation_id) own: u32) {
  let first = group_index(wid, nwg) * 8u;
  if (first >= p.count) {
    return;
  }
  run(first + lid, own);
}
