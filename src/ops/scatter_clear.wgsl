// Slots in which threads meet, empty: words take turns to be `even` and `odd`. One thread per word.
//! use grid
struct Params {
  words: u32,
  even: u32,
  odd: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> slots: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i < p.words) {
    slots[i] = select(p.even, p.odd, (i & 1u) != 0u);
  }
}
