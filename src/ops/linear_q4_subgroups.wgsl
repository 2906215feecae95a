// A 4-bit linear in registers (snippets/q4_registers.wgsl) where loads are dear and lanes can hand each other values:
// software adapters, whose subgroups have at least four lanes. A workgroup is eight threads with the same rows. Each loads
// eight k of one row and passes them on, so that a word of four rows is two loads.
//! enable subgroups
//! variadic
//! use grid swiglu q4_linear q4_registers

fn from_lanes(mine: vec4f) -> mat4x4f {
  return mat4x4f(subgroupBroadcast(mine, 0u), subgroupBroadcast(mine, 1u), subgroupBroadcast(mine, 2u),
                 subgroupBroadcast(mine, 3u));
}

fn four_rows(first: u32, word: u32, own: u32) -> Four {
  let row = min(first + own % 4u, p.rows - 1u);
  return Four(from_lanes(x4(row, word * 2u)), from_lanes(x4(row, word * 2u + 1u)));
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
