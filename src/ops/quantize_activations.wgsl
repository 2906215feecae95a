// Rows of x in 8 bits for linear_q4_int8: blocks of 32 elements share a scale, the largest magnitude ÷ 127. One thread per
// block, which becomes three vec4u: for each eight elements the even ones and the odd ones as bytes, and then the scale and the
// sum of what the bytes stand for. Rows may end in the middle of a block; what is missing is 0. If an element is not
// finite the scale is NaN. All loads are under way at once.
//! ends
//! variadic
//! use grid
struct Params {
  count: u32,
  blocks: u32,  // of a row
  quads: u32,   // of a row
}
@group(0) @binding(0) var<uniform> p: Params;

struct Bytes {
  even: u32,
  odd: u32,
  sum: i32,
}
fn rounded(v: vec4f, inverse: f32) -> vec4i {
  return vec4i(clamp(round(v * inverse), vec4f(-127.0), vec4f(127.0)));
}
fn bytes_of(a: vec4f, b: vec4f, inverse: f32) -> Bytes {
  let first = rounded(a, inverse);
  let second = rounded(b, inverse);
  let all = first + second;
  return Bytes(pack4xI8(vec4i(first.x, first.z, second.x, second.z)), pack4xI8(vec4i(first.y, first.w, second.y, second.w)),
               all.x + all.y + all.z + all.w);
}
fn largest(v: vec4f) -> f32 {
  return max(max(v.x, v.y), max(v.z, v.w));
}
// By its bits, as compilers may assume that nothing is infinite.
fn is_finite(v: vec4f) -> bool {
  let exponents = bitcast<vec4u>(v) & vec4u(0x7F800000u);
  return all(exponents != vec4u(0x7F800000u));
}

// Four elements of a row; what lies behind its end is 0.
fn load(row: u32, quad: u32) -> vec4f {
  return select(vec4f(), vec4f(x[row + min(quad, p.quads - 1u)]), quad < p.quads);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let index = group_index(wid, nwg) * 64u + lid;
  if (index >= p.count) {
    return;
  }
  let row = index / p.blocks * p.quads;
  let first = index % p.blocks * 8u;
  let v0 = load(row, first);
  let v1 = load(row, first + 1u);
  let v2 = load(row, first + 2u);
  let v3 = load(row, first + 3u);
  let v4 = load(row, first + 4u);
  let v5 = load(row, first + 5u);
  let v6 = load(row, first + 6u);
  let v7 = load(row, first + 7u);
  let most = largest(max(max(max(abs(v0), abs(v1)), max(abs(v2), abs(v3))), max(max(abs(v4), abs(v5)), max(abs(v6), abs(v7)))));
  let finite = is_finite(v0) && is_finite(v1) && is_finite(v2) && is_finite(v3) && is_finite(v4) && is_finite(v5) && is_finite(v6) && is_finite(v7);
  let scale = most / 127.0;
  // Where all is 0 or next to it, so is the result.
  let inverse = select(0.0, 127.0 / most, most > 1e-30);
  let b0 = bytes_of(v0, v1, inverse);
  let b1 = bytes_of(v2, v3, inverse);
  let b2 = bytes_of(v4, v5, inverse);
  let b3 = bytes_of(v6, v7, inverse);
  y[index * 3u] = vec4u(b0.even, b0.odd, b1.even, b1.odd);
  y[index * 3u + 1u] = vec4u(b2.even, b2.odd, b3.even, b3.odd);
  let sum = scale * f32(b0.sum + b1.sum + b2.sum + b3.sum);
  y[index * 3u + 2u] = select(vec4u(0x7FC00000u, 0x7FC00000u, 0u, 0u), vec4u(bitcast<u32>(scale), bitcast<u32>(sum), 0u, 0u), finite);
}
