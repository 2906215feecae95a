// Rows of x in 8 bits for linear_q4_int8: blocks of 32 elements share a scale, the largest magnitude ÷ 127. One thread per
// block, which becomes three vec4u: for each eight elements the even ones and the odd ones as bytes, and then the scale and the
// sum of what the bytes stand for. Rows may end in the middle of a block; what is missing is 0. If an element is not
// finite the scale is NaN.
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
  let size = abs(v);
  return max(max(size.x, size.y), max(size.z, size.w));
}
// By its bits, as compilers may assume that nothing is infinite.
fn is_finite(v: vec4f) -> bool {
  let exponents = bitcast<vec4u>(v) & vec4u(0x7F800000u);
  return all(exponents != vec4u(0x7F800000u));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let index = group_index(wid, nwg) * 64u + lid;
  if (index >= p.count) {
    return;
  }
  let first = index % p.blocks * 8u;
  let start = index / p.blocks * p.quads;
  var v: array<vec4f, 8>;
  var most = 0.0;
  var finite = true;
  for (var i = 0u; i < 8u; i++) {
    if (first + i < p.quads) {
      v[i] = vec4f(x[start + first + i]);
    }
    most = max(most, largest(v[i]));
    finite = finite && is_finite(v[i]);
  }
  let scale = most / 127.0;
  // Where all is 0 or next to it, so is the result.
  let inverse = select(0.0, 127.0 / most, most > 1e-30);
  let b0 = bytes_of(v[0], v[1], inverse);
  let b1 = bytes_of(v[2], v[3], inverse);
  let b2 = bytes_of(v[4], v[5], inverse);
  let b3 = bytes_of(v[6], v[7], inverse);
  y[index * 3u] = vec4u(b0.even, b0.odd, b1.even, b1.odd);
  y[index * 3u + 1u] = vec4u(b2.even, b2.odd, b3.even, b3.odd);
  let sum = scale * f32(b0.sum + b1.sum + b2.sum + b3.sum);
  y[index * 3u + 2u] = select(vec4u(0x7FC00000u, 0x7FC00000u, 0u, 0u), vec4u(bitcast<u32>(scale), bitcast<u32>(sum), 0u, 0u), finite);
}
