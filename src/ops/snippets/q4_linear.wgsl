// What the kernels of 4-bit linears share. y = x · Wᵀ for one to three weights that stand one behind the other, in
// blocks of 64 columns (q4_tiles.h). A lane is eight columns, as two streams of four: neighbouring columns or, if
// PAIRED, the same four of two weights. A weight is scale · (q + SHIFT) + minimum with a scale and perhaps a minimum for
// each group. The specialisation binds x and w and gives what is optional:
//   NORM                x is normalised first: x · rsqrt(mean(x²) + eps) · norm_at
//   SWIGLU              the pair is gate and up projection
//   PLANES              the pair is the high and the low bits of one weight, q = 16 · first + second
//   MINIMA              there are minima
//   scale_quad, minimum_quad, bias_quad, and store, which adds a residual and knows up to three outputs
struct Params {
  count: u32,        // threads, where each has a lane of its own
  lanes: u32,
  rows: u32,
  words: u32,        // K / 8
  groups: u32,
  group_words: u32,  // words per group
  eps: f32,
  second: u32,       // blocks between the two streams (PAIRED)
  ends: vec4u,       // first lane behind each part
  columns: vec4u,    // of each part
}
@group(0) @binding(0) var<uniform> p: Params;

const PAIRED = SWIGLU || PLANES;
// Is something added to a result for the sums of x over groups?
const CORRECTED = MINIMA || SHIFT > 0u;

// Where the four columns of each stream are: a block, and a vec4 inside of it.
struct Lane {
  first: vec2u,
  second: vec2u,
}
fn lane_at(lane: u32) -> Lane {
  let first = select(vec2u(lane / 8u, lane % 8u * 2u), vec2u(lane / 16u, lane % 16u), PAIRED);
  return Lane(first, first + select(vec2u(0u, 1u), vec2u(p.second, 0u), PAIRED));
}
fn word_at(place: vec2u, word: u32) -> u32 {
  return (place.x * p.words + word) * 16u + place.y;
}
fn scale_at(place: vec2u, group: u32) -> u32 {
  return (place.x * p.groups + group) * 16u + place.y;
}

// Four weights of four columns: k, k + 1, k + 2, k + 3 of words shifted so that k is the lowest nibble. Signed, because
// many processors have no instruction that makes a float of an unsigned integer.
fn signed_nibbles(words: vec4u) -> vec4f {
  return vec4f(vec4i(words & vec4u(15u)) - 8);
}
fn unpack(words: vec4u) -> mat4x4f {
  return mat4x4f(signed_nibbles(words), signed_nibbles(words >> vec4u(4u)), signed_nibbles(words >> vec4u(8u)),
                 signed_nibbles(words >> vec4u(12u)));
}

// x[row, 4i … 4i+3], before and after the norm's weight
fn raw4(row: u32, i: u32) -> vec4f {
  return vec4f(x[row * p.words * 2u + i]);
}
fn x4(row: u32, i: u32) -> vec4f {
  return raw4(row, i) * norm_at(i);
}
fn inverse_rms(squares: f32) -> f32 {
  return inverseSqrt(squares / f32(p.words * 8u) + p.eps);
}

// The sums of a lane's streams become results. The last block of an output may reach beyond its columns.
fn finish(lane: u32, row: u32, sum0: vec4f, sum1: vec4f) {
  if (row >= p.rows) {
    return;
  }
  let at = lane_at(lane);
  let v0 = sum0 + bias_quad(at.first.x * 16u + at.first.y);
  if (PLANES) {
    store(0u, row, lane, v0);
    return;
  }
  let v1 = sum1 + bias_quad(at.second.x * 16u + at.second.y);
  if (SWIGLU) {
    store(0u, row, lane, swiglu(v0, v1));
    return;
  }
  let part = u32(lane >= p.ends.x) + u32(lane >= p.ends.y);
  let start = select(0u, p.ends[max(part, 1u) - 1u], part > 0u);
  store(part, row, (lane - start) * 2u, v0);
  store(part, row, (lane - start) * 2u + 1u, v1);
}
