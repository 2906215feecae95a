// y[i] = an expression over inputs that broadcast to the output. One thread for four neighbours of the output. The
// specialisation binds the tensors and gives `elements`.
//! variadic
//! use grid divide walk
const AXIS_VECTORS = 2u;
struct Params {
  count : u32,
          rank : u32,
                 s0 : V,
                      s1 : V,
                           s2 : V,
                           dims : array<vec4u, 2>,  // of the output, merged where all inputs allow it
                                  inverses : array<vec4u, 2>,
                                             strides : array<vec4u, 8>,  // of up to four inputs, two vectors each
} @group(0) @binding(0) var<uniform> p : Params;

fn walk_base(list : u32) -> u32 { return 0u; }

@compute @workgroup_size(64) fn main(@builtin(workgroup_id) wid : vec3u, @builtin(num_workgroups) nwg : vec3u,
                                     @builtin(local_invocation_index) lid : u32) {
  let q = group_index(wid, nwg) * 64u + lid;
  if (q * 4u < p.count) {
    y_put(q, elements(q));
  }
}
