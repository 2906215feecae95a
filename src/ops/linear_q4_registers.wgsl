// A 4-bit linear in registers (snippets/q4_registers.wgsl) whose threads load all that they need of x, which is a uniform
// where few rows are read.
//! variadic
//! use grid swiglu q4_linear q4_registers

fn four_rows(first: u32, word: u32, own: u32) -> Four {
  let last = p.rows - 1u;
  let i = word * 2u;
  let row0 = min(first, last);
  if (TM == 1u) {
    return Four(mat4x4f(x4(row0, i), vec4f(), vec4f(), vec4f()), mat4x4f(x4(row0, i + 1u), vec4f(), vec4f(), vec4f()));
  }
  let row1 = min(first + 1u, last);
  if (TM == 2u) {
    return Four(mat4x4f(x4(row0, i), x4(row1, i), vec4f(), vec4f()),
                mat4x4f(x4(row0, i + 1u), x4(row1, i + 1u), vec4f(), vec4f()));
  }
  let row2 = min(first + 2u, last);
  let row3 = min(first + 3u, last);
  return Four(mat4x4f(x4(row0, i), x4(row1, i), x4(row2, i), x4(row3, i)),
              mat4x4f(x4(row0, i + 1u), x4(row1, i + 1u), x4(row2, i + 1u), x4(row3, i + 1u)));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let index = group_index(wid, nwg) * 64u + lid;
  if (index >= p.count) {
    return;
  }
  run(index, 0u);
}
