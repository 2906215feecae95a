// A 4-bit linear (snippets/q4_linear.wgsl) with many rows, for GPUs: a workgroup of 64 threads makes 32 rows of eight
// lanes, a thread four rows of one lane. For every four words of the depth (32 k) the threads unpack the lanes' weights
// into workgroup memory, a word of four columns each, with scale and correction applied, and copy the rows of x beside
// them; then all multiply from there. T4 is vec4h where x is float16: products are then made in half precision and
// added up in single. Rows and lanes that overhang read valid memory and are not written.
//! variadic
//! use grid q4_linear
const ROWS = 32u;
const LANES = 8u;
const STREAMS = 16u;  // two per lane
const WORDS = 4u;
const QUADS = 8u;     // of k
var<workgroup> w_tile: array<T4, 512>;  // [k][stream]
var<workgroup> x_tile: array<T4, 256>;  // [row][quad of k]

fn stage_weights(place: vec2u, stream: u32, word: u32, to: u32) {
  let group = min(word, p.words - 1u) / p.group_words;
  let scale = select(vec4f(), scales[scale_at(place, group)], word < p.words);
  var shift = vec4f();
  if (CORRECTED && !(PLANES && stream % 2u == 1u)) {
    shift = select(vec4f(), correction_at(scale_at(place, group)), word < p.words);
  }
  let bits = w[word_at(place, min(word, p.words - 1u))];
  let low = unpack(bits);
  let high = unpack(bits >> vec4u(16u));
  let at = to * 8u * STREAMS + stream;
  w_tile[at] = T4(low[0] * scale + shift);
  w_tile[at + STREAMS] = T4(low[1] * scale + shift);
  w_tile[at + 2u * STREAMS] = T4(low[2] * scale + shift);
  w_tile[at + 3u * STREAMS] = T4(low[3] * scale + shift);
  w_tile[at + 4u * STREAMS] = T4(high[0] * scale + shift);
  w_tile[at + 5u * STREAMS] = T4(high[1] * scale + shift);
  w_tile[at + 6u * STREAMS] = T4(high[2] * scale + shift);
  w_tile[at + 7u * STREAMS] = T4(high[3] * scale + shift);
}

fn stage_x(first_row: u32, first_quad: u32, lid: u32) {
  for (var i = lid; i < ROWS * QUADS; i += 64u) {
    let quad = first_quad + i % QUADS;
    let v = x4(min(first_row + i / QUADS, p.rows - 1u), min(quad, p.words * 2u - 1u));
    x_tile[i] = T4(select(vec4f(), v, quad < p.words * 2u));
  }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let lane_tiles = (p.lanes + LANES - 1u) / LANES;
  let tile = group_index(wid, nwg);
  let first_row = tile / lane_tiles * ROWS;
  if (first_row >= p.rows) {
    return;
  }
  let first_lane = tile % lane_tiles * LANES;
  let stream = lid % STREAMS;
  let staged = lane_at(min(first_lane + stream / 2u, p.lanes - 1u));
  let place = select(staged.first, staged.second, stream % 2u == 1u);
  let lane = lid % LANES;
  let row = lid / LANES * 4u;

  var acc0 = array<vec4f, 4>();
  var acc1 = array<vec4f, 4>();
  for (var first = 0u; first < p.words; first += WORDS) {
    stage_weights(place, stream, first + lid / STREAMS, lid / STREAMS);
    stage_x(first_row, first * 2u, lid);
    workgroupBarrier();
    for (var quad = 0u; quad < QUADS; quad++) {
      for (var k = 0u; k < 4u; k++) {
        let at = (quad * 4u + k) * STREAMS + lane * 2u;
        let w0 = w_tile[at];
        let w1 = w_tile[at + 1u];
        for (var m = 0u; m < 4u; m++) {
          let v = x_tile[(row + m) * QUADS + quad][k];
          acc0[m] += vec4f(w0 * v);
          acc1[m] += vec4f(w1 * v);
        }
      }
    }
    workgroupBarrier();
  }
  if (first_lane + lane < p.lanes) {
    for (var m = 0u; m < 4u; m++) {
      finish(first_lane + lane, first_row + row + m, acc0[m], acc1[m]);
    }
  }
}
