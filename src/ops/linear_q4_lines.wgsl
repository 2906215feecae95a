// A 4-bit linear with several rows, for GPUs (snippets/q4_strips.wgsl): up to four, or tiles of eight. A thread loads the
// weights of a word, and scales them once for all rows; then half that word of ROWS rows, which it multiplies, and the other half:
// more would not fit the registers of every GPU. All loops have as many rounds as constants say; rows have names, because not
// every compiler keeps an array in registers.
//! variadic
//! ends
//! use grid swiglu q4_bytes q4_strips
var<private> squares: array<f32, ROWS>;
var<workgroup> slice_squares: array<array<array<f32, 4u>, PARTS>, AT_ONCE>;
var<workgroup> halfway_squares: array<array<f32, PARTS>, AT_ONCE>;

// Half a word of a row: elements k = 0 to 3 or 4 to 7.
fn load_x(word: u32, row: u32, half: u32) -> vec4f {
  return vec4f(x[(min(row, p.rows - 1u) * WORDS + existing(word)) * 2u + half]);
}

// Half a word of weights, k = 0 to 3 or 4 to 7 of four columns, as they are multiplied.
fn floats_of_half(bits: u32, half: u32) -> vec4f {
  let low = (bits & 0x0f0f0f0fu) >> (16u * half);
  let high = ((bits >> 4u) & 0x0f0f0f0fu) >> (16u * half);
  return vec4f((vec4u(low, high, low >> 8u, high >> 8u)) & vec4u(255u));
}
fn scaled(bits: vec4u, half: u32, scale: vec4f, start: mat4x4f) -> mat4x4f {
  return mat4x4f(fma(floats_of_half(bits.x, half), vec4f(scale.x), start[0]),
                 fma(floats_of_half(bits.y, half), vec4f(scale.y), start[1]),
                 fma(floats_of_half(bits.z, half), vec4f(scale.z), start[2]),
                 fma(floats_of_half(bits.w, half), vec4f(scale.w), start[3]));
}
fn weights_of(streams: array<Stream, STREAMS>, s: u32, half: u32) -> mat4x4f {
  let scale = streams[s].scale;
  let zero = fma(vec4f(ZERO), scale, streams[s].minimum);
  let start = mat4x4f(vec4f(zero.x), vec4f(zero.y), vec4f(zero.z), vec4f(zero.w));
  if (!PLANES) {
    return scaled(streams[s].bits, half, scale, start);
  }
  return scaled(streams[s].bits, half, 16.0 * scale, scaled(streams[STREAMS - 1u].bits, half, scale, start));
}

fn dot_four(w4: vec4f, x4: vec4f, start: f32) -> f32 {
  return fma(w4.w, x4.w, fma(w4.z, x4.z, fma(w4.y, x4.y, fma(w4.x, x4.x, start))));
}
// A row's elements as they are multiplied.
fn prepared(word: u32, norm: vec4f, from_row: vec4f, r: u32) -> vec4f {
  let x4 = select(vec4f(), from_row, EXACT || word < WORDS);
  if (NORM) {
    squares[r] += dot(x4, x4);
  }
  return x4 * norm;
}
fn multiply_row(weights: mat4x4f, x4: vec4f, i: u32) {
  let sum = acc[i];
  acc[i] = vec4f(dot_four(weights[0], x4, sum.x), dot_four(weights[1], x4, sum.y),
                 dot_four(weights[2], x4, sum.z), dot_four(weights[3], x4, sum.w));
}

fn multiply_half(word: u32, streams: array<Stream, STREAMS>, half: u32, first_row: u32) {
  let norm = norm_at(existing(word) * 2u + half);
  let x0 = prepared(word, norm, load_x(word, first_row, half), 0u);
  let x1 = prepared(word, norm, load_x(word, first_row + 1u, half), 1u);
  let x2 = prepared(word, norm, load_x(word, first_row + 2u, half), 2u);
  let x3 = prepared(word, norm, load_x(word, first_row + 3u, half), 3u);
  var x4: vec4f;
  var x5: vec4f;
  var x6: vec4f;
  var x7: vec4f;
  if (ROWS > 4u) {
    x4 = prepared(word, norm, load_x(word, first_row + 4u, half), 4u % ROWS);
    x5 = prepared(word, norm, load_x(word, first_row + 5u, half), 5u % ROWS);
    x6 = prepared(word, norm, load_x(word, first_row + 6u, half), 6u % ROWS);
    x7 = prepared(word, norm, load_x(word, first_row + 7u, half), 7u % ROWS);
  }
  for (var s = 0u; s < SUMS; s++) {
    let weights = weights_of(streams, s, half);
    multiply_row(weights, x0, s * ROWS);
    multiply_row(weights, x1, s * ROWS + 1u);
    multiply_row(weights, x2, s * ROWS + 2u);
    multiply_row(weights, x3, s * ROWS + 3u);
    if (ROWS > 4u) {
      multiply_row(weights, x4, s * ROWS + 4u % ROWS);
      multiply_row(weights, x5, s * ROWS + 5u % ROWS);
      multiply_row(weights, x6, s * ROWS + 6u % ROWS);
      multiply_row(weights, x7, s * ROWS + 7u % ROWS);
    }
  }
}

fn multiply_rows(word: u32, place: vec2u, first_row: u32) {
  let streams = load_streams(word, place);
  multiply_half(word, streams, 0u, first_row);
  multiply_half(word, streams, 1u, first_row);
}

fn give_squares(r: u32, lid: u32) {
  if (NORM && lid % PLACES == 0u) {
    let slice = lid / PLACES;
    for (var i = 0u; i < AT_ONCE; i++) {
      slice_squares[i][slice / 4u][slice % 4u] = squares[r + i];
    }
  }
}
fn add_squares(lid: u32) {
  if (NORM && lid < PARTS * AT_ONCE) {
    let four = slice_squares[lid / PARTS][lid % PARTS];
    halfway_squares[lid / PARTS][lid % PARTS] = (four[0u] + four[1u]) + (four[2u] + four[3u]);
  }
}
fn rms(lid: u32) -> f32 {
  if (!NORM) {
    return 1.0;
  }
  let parts = halfway_squares[lid / PLACES];
  var sum = 0.0;
  for (var i = 0u; i < PARTS; i++) {
    sum += parts[i];
  }
  return rms_of(sum);
}

// Adds up the slices of AT_ONCE rows; the first PLACES threads of each get results.
fn finish_rows(r: u32, place: vec2u, at: Target, first_row: u32, lid: u32) {
  if (r > 0u) {
    workgroupBarrier();  // the sums of the rows before have been read by all
  }
  give_sums(r, lid);
  give_squares(r, lid);
  workgroupBarrier();
  add_squares(lid);
  add_slices(lid);
  workgroupBarrier();
  let row = first_row + r + lid / PLACES;
  if (at.writes && row < p.rows) {
    let totals = totals_of(lid);
    store(at.part, row, at.quad, result_of(place, totals, rms(lid)));
  }
}

fn make_rows(first_row: u32, strip: u32, lid: u32) {
  let place = place_of(strip, lid);
  for (var round = 0u; round < ROUNDS; round++) {
    multiply_rows(round * STEP + lid / PLACES, place, first_row);
  }
  let at = target_of(strip, lid);
  finish_rows(0u, place, at, first_row, lid);
  if (AT_ONCE < ROWS) {
    finish_rows(AT_ONCE % ROWS, place, at, first_row, lid);
  }
  if (2u * AT_ONCE < ROWS) {
    finish_rows(2u * AT_ONCE % ROWS, place, at, first_row, lid);
    finish_rows(3u * AT_ONCE % ROWS, place, at, first_row, lid);
  }
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  // Neighbouring workgroups make other rows of the same columns, so that they find the weights in a cache.
  let index = group_index(wid, nwg);
  let strip = select(index, index / p.tiles, ROWS == 8u);
  let tile = select(0u, index % p.tiles, ROWS == 8u);
  if (strip < p.strips) {
    make_rows(tile * ROWS, strip, lid);
  }
}
