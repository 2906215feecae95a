// Puts up to seven tensors side by side: in each block of y, which is all that lies below the outer axes, tensor j has
// the elements from begins[j] to ends[j]. One thread for four neighbours of y; in ROWS they come from one quad of one
// tensor. PARTS: elements of y that come from none of these tensors stay as they are. The specialisation binds COUNT
// tensors; the others are absent.
//! variadic
//! use grid divide
struct Params {
  count: u32,
  block: u32,
  inverse: u32,  // of the block
  pad: u32,
  begins: array<vec4u, 2>,
  ends: array<vec4u, 2>,
}
@group(0) @binding(0) var<uniform> p: Params;

fn holds(j: u32, at: u32) -> bool {
  return j < COUNT && at >= p.begins[j / 4u][j % 4u] && at < p.ends[j / 4u][j % 4u];
}

// Where element `at` of a block is in tensor j.
fn place(j: u32, block: u32, at: u32) -> u32 {
  let begin = p.begins[j / 4u][j % 4u];
  return block * (p.ends[j / 4u][j % 4u] - begin) + at - begin;
}

// In ROWS the quad at a place in a block, else the element, four times.
fn chosen(block: u32, at: u32, otherwise: vec4<y_val>) -> vec4<y_val> {
  if (holds(0u, at)) {
    let i = place(0u, block, at);
    if (ROWS) {
      return x0_quad(i / 4u);
    }
    return vec4<y_val>(x0_get(i));
  }
  if (holds(1u, at)) {
    let i = place(1u, block, at);
    if (ROWS) {
      return x1_quad(i / 4u);
    }
    return vec4<y_val>(x1_get(i));
  }
  if (holds(2u, at)) {
    let i = place(2u, block, at);
    if (ROWS) {
      return x2_quad(i / 4u);
    }
    return vec4<y_val>(x2_get(i));
  }
  if (holds(3u, at)) {
    let i = place(3u, block, at);
    if (ROWS) {
      return x3_quad(i / 4u);
    }
    return vec4<y_val>(x3_get(i));
  }
  if (holds(4u, at)) {
    let i = place(4u, block, at);
    if (ROWS) {
      return x4_quad(i / 4u);
    }
    return vec4<y_val>(x4_get(i));
  }
  if (holds(5u, at)) {
    let i = place(5u, block, at);
    if (ROWS) {
      return x5_quad(i / 4u);
    }
    return vec4<y_val>(x5_get(i));
  }
  if (holds(6u, at)) {
    let i = place(6u, block, at);
    if (ROWS) {
      return x6_quad(i / 4u);
    }
    return vec4<y_val>(x6_get(i));
  }
  return otherwise;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let q = group_index(wid, nwg) * 64u + lid;
  if (q * 4u >= p.count) {
    return;
  }
  var v: vec4<y_val>;
  if (PARTS) {
    v = y_quad(q);
  }
  var parts = divide(q * 4u, p.block, p.inverse);
  if (ROWS) {
    y_put(q, chosen(parts.x, parts.y, v));
    return;
  }
  for (var k = 0u; k < 4u; k++) {
    v[k] = chosen(parts.x, parts.y, vec4<y_val>(v[k])).x;
    parts.y++;
    if (parts.y == p.block) {
      parts = vec2u(parts.x + 1u, 0u);
    }
  }
  y_put(q, v);
}
