// A 4-bit linear with several rows, for GPUs (snippets/q4_strips.wgsl): up to four, or tiles of eight. A thread loads the
// weights of a word and that word of ROWS rows, then multiplies. All loops have as many rounds as constants say; rows have
// names, because not every compiler keeps an array in registers.
//! variadic
//! ends
//! use grid swiglu q4_bytes q4_strips
struct Eight {
  a: vec4f,
  b: vec4f,
}
var<private> squares: array<f32, ROWS>;
var<workgroup> slice_squares: array<array<array<f32, 4u>, PARTS>, AT_ONCE>;
var<workgroup> halfway_squares: array<array<f32, PARTS>, AT_ONCE>;

fn load_x(word: u32, row: u32) -> Eight {
  let at = (min(row, p.rows - 1u) * WORDS + existing(word)) * 2u;
  return Eight(vec4f(x[at]), vec4f(x[at + 1u]));
}

// Weights of four columns as they are multiplied: k = 0, 2, 4, 6 and k = 1, 3, 5, 7 of a word. Several rows need them, so they
// are scaled first.
struct Weights {
  even: mat4x4f,
  odd: mat4x4f,
}
fn scaled(bytes: vec4u, scale: vec4f, start: mat4x4f) -> mat4x4f {
  return mat4x4f(fma(floats_of(bytes.x), vec4f(scale.x), start[0]), fma(floats_of(bytes.y), vec4f(scale.y), start[1]),
                 fma(floats_of(bytes.z), vec4f(scale.z), start[2]), fma(floats_of(bytes.w), vec4f(scale.w), start[3]));
}
fn weights_of(streams: array<Stream, STREAMS>, s: u32) -> Weights {
  let scale = streams[s].scale;
  let zero = fma(vec4f(ZERO), scale, streams[s].minimum);
  let start = mat4x4f(vec4f(zero.x), vec4f(zero.y), vec4f(zero.z), vec4f(zero.w));
  let mask = vec4u(0x0f0f0f0fu);
  let bits = streams[s].bits;
  if (!PLANES) {
    return Weights(scaled(bits & mask, scale, start), scaled((bits >> vec4u(4u)) & mask, scale, start));
  }
  let fine = streams[STREAMS - 1u].bits;
  return Weights(scaled(bits & mask, 16.0 * scale, scaled(fine & mask, scale, start)),
                 scaled((bits >> vec4u(4u)) & mask, 16.0 * scale, scaled((fine >> vec4u(4u)) & mask, scale, start)));
}

fn multiply_row(word: u32, weights: array<Weights, SUMS>, norm: Eight, from_row: Eight, r: u32) {
  var a = from_row.a;
  var b = from_row.b;
  if (!EXACT && word >= WORDS) {
    a = vec4f();
    b = vec4f();
  }
  if (NORM) {
    squares[r] += dot(a, a) + dot(b, b);
    a *= norm.a;
    b *= norm.b;
  }
  let even = vec4f(a.x, a.z, b.x, b.z);
  let odd = vec4f(a.y, a.w, b.y, b.w);
  for (var s = 0u; s < SUMS; s++) {
    let w4 = weights[s];
    let sum = acc[s * ROWS + r];
    acc[s * ROWS + r] =
      vec4f(dot_eight(w4.even[0], w4.odd[0], even, odd, sum.x), dot_eight(w4.even[1], w4.odd[1], even, odd, sum.y),
            dot_eight(w4.even[2], w4.odd[2], even, odd, sum.z), dot_eight(w4.even[3], w4.odd[3], even, odd, sum.w));
  }
}

fn multiply_rows(word: u32, place: vec2u, first_row: u32) {
  let streams = load_streams(word, place);
  let norm = Eight(norm_at(existing(word) * 2u), norm_at(existing(word) * 2u + 1u));
  let x0 = load_x(word, first_row);
  let x1 = load_x(word, first_row + 1u);
  let x2 = load_x(word, first_row + 2u);
  let x3 = load_x(word, first_row + 3u);
  var x4: Eight;
  var x5: Eight;
  var x6: Eight;
  var x7: Eight;
  if (ROWS > 4u) {
    x4 = load_x(word, first_row + 4u);
    x5 = load_x(word, first_row + 5u);
    x6 = load_x(word, first_row + 6u);
    x7 = load_x(word, first_row + 7u);
  }
  var weights: array<Weights, SUMS>;
  for (var s = 0u; s < SUMS; s++) {
    weights[s] = weights_of(streams, s);
  }
  multiply_row(word, weights, norm, x0, 0u);
  multiply_row(word, weights, norm, x1, 1u);
  multiply_row(word, weights, norm, x2, 2u);
  multiply_row(word, weights, norm, x3, 3u);
  if (ROWS > 4u) {
    multiply_row(word, weights, norm, x4, 4u % ROWS);
    multiply_row(word, weights, norm, x5, 5u % ROWS);
    multiply_row(word, weights, norm, x6, 6u % ROWS);
    multiply_row(word, weights, norm, x7, 7u % ROWS);
  }
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
