// y = x · Wᵀ for one to three 4-bit weights that stand one behind the other, in blocks of 64 columns (q4_tiles.h). One
// thread computes TM rows × 8 columns, as two streams of four: neighbouring columns or, if PAIRED, the same four of two
// weights whose results go through `pair` (gate and up projection, or two planes of one weight). It walks the depth
// once, a word (eight k) of each column at a time, and scales each group's partial sum. No barrier, no workgroup
// memory: what counts is that x and the unpacked weights are reused in registers. The specialisation binds x (as a
// uniform where only one row is read) and gives what is optional:
//   NORM       x is normalised first: x · rsqrt(mean(x²) + eps) · norm_at (one row only)
//   CORRECTED  adds Σ_g correction_at(g) · Σ_{k∈g} x_k, which makes weights of another offset exact
//   PLANES     the pair is two planes of one weight: only the first has a correction and a bias
//   bias_at, residual_at, store0 … store2 (up to three outputs)
//! variadic
//! use grid
struct Params {
  count: u32,        // threads
  lanes: u32,        // threads per TM rows
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

alias Tile = array<vec4f, TM>;

// Four weights of four columns: k, k + 1, k + 2, k + 3 of words shifted so that k is the lowest nibble.
fn unpack(words: vec4u) -> mat4x4f {
  let nibble = vec4u(15u);
  return mat4x4f(vec4f(words & nibble) - 8.0, vec4f((words >> vec4u(4u)) & nibble) - 8.0,
                 vec4f((words >> vec4u(8u)) & nibble) - 8.0, vec4f((words >> vec4u(12u)) & nibble) - 8.0);
}

// x[row, 4i … 4i+3]
fn x4(row: u32, i: u32) -> vec4f {
  return vec4f(x[row * p.words * 2u + i]) * norm_at(i);
}

fn inverse_rms() -> f32 {
  if (!NORM) {
    return 1.0;
  }
  var sum = 0.0;
  for (var i = 0u; i < p.words * 2u; i++) {
    let v = vec4f(x[i]);
    sum += dot(v, v);
  }
  return inverseSqrt(sum / f32(p.words * 8u) + p.eps);
}

// Four columns of a row of one of the outputs. The last block of an output may reach beyond its columns.
fn put(part: u32, row: u32, column: u32, v: vec4f) {
  let columns = p.columns[part];
  for (var c = 0u; c < 4u; c++) {
    if (row >= p.rows || column + c >= columns) {
      return;
    }
    let at = row * columns + column + c;
    if (part == 0u) {
      store0(at, v[c] + residual_at(at));
    } else if (part == 1u) {
      store1(at, v[c]);
    } else {
      store2(at, v[c]);
    }
  }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let index = group_index(wid, nwg) * 64u + lid;
  if (index >= p.count) {
    return;
  }
  let lane = index % p.lanes;
  let row = (index / p.lanes) * TM;
  // The four columns of each stream: a block, and a vec4 inside of it.
  let first = select(vec2u(lane / 8u, lane % 8u * 2u), vec2u(lane / 16u, lane % 16u), PAIRED);
  let second = first + select(vec2u(0u, 1u), vec2u(p.second, 0u), PAIRED);

  var acc0 = Tile();
  var acc1 = Tile();
  for (var g = 0u; g < p.groups; g++) {
    var sum0 = Tile();
    var sum1 = Tile();
    var totals = array<f32, TM>();
    let end = min((g + 1u) * p.group_words, p.words);
    for (var word = g * p.group_words; word < end; word++) {
      let w0 = w[(first.x * p.words + word) * 16u + first.y];
      let w1 = w[(second.x * p.words + word) * 16u + second.y];
      let low0 = unpack(w0);
      let high0 = unpack(w0 >> vec4u(16u));
      let low1 = unpack(w1);
      let high1 = unpack(w1 >> vec4u(16u));
      for (var m = 0u; m < TM; m++) {
        let r = min(row + m, p.rows - 1u);
        let a = x4(r, word * 2u);
        let b = x4(r, word * 2u + 1u);
        sum0[m] += low0 * a + high0 * b;
        sum1[m] += low1 * a + high1 * b;
        if (CORRECTED) {
          totals[m] += dot(a + b, vec4f(1.0));
        }
      }
    }
    let at0 = (first.x * p.groups + g) * 16u + first.y;
    let at1 = (second.x * p.groups + g) * 16u + second.y;
    let scale0 = scales[at0];
    let scale1 = scales[at1];
    for (var m = 0u; m < TM; m++) {
      acc0[m] += sum0[m] * scale0;
      acc1[m] += sum1[m] * scale1;
      if (CORRECTED) {
        acc0[m] += totals[m] * correction_at(at0);
        if (!PLANES) {
          acc1[m] += totals[m] * correction_at(at1);
        }
      }
    }
  }

  let rms = inverse_rms();
  let part = u32(lane >= p.ends.x) + u32(lane >= p.ends.y);
  let start = select(0u, p.ends[max(part, 1u) - 1u], part > 0u);
  for (var m = 0u; m < TM; m++) {
    let v0 = acc0[m] * rms + bias_at(first.x * 16u + first.y);
    var v1 = acc1[m] * rms;
    if (!PLANES) {
      v1 += bias_at(second.x * 16u + second.y);
    }
    if (PAIRED) {
      put(0u, row + m, lane * 4u, pair(v0, v1));
    } else {
      put(part, row + m, (lane - start) * 8u, v0);
      put(part, row + m, (lane - start) * 8u + 4u, v1);
    }
  }
}
