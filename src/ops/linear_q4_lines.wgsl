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
var<workgroup> slice_squares: array<f32, SLICES>;
var<workgroup> halfway_squares: array<f32, PARTS>;

fn load_x(word: u32, row: u32) -> Eight {
  let at = (min(row, p.rows - 1u) * WORDS + existing(word)) * 2u;
  return Eight(vec4f(x[at]), vec4f(x[at + 1u]));
}

fn multiply_row(word: u32, streams: array<Stream, STREAMS>, norm: Eight, from_row: Eight, r: u32) {
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
  multiply(streams, a, b, dot(a + b, vec4f(1.0)), r);
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
  multiply_row(word, streams, norm, x0, 0u);
  multiply_row(word, streams, norm, x1, 1u);
  multiply_row(word, streams, norm, x2, 2u);
  multiply_row(word, streams, norm, x3, 3u);
  if (ROWS > 4u) {
    multiply_row(word, streams, norm, x4, 4u % ROWS);
    multiply_row(word, streams, norm, x5, 5u % ROWS);
    multiply_row(word, streams, norm, x6, 6u % ROWS);
    multiply_row(word, streams, norm, x7, 7u % ROWS);
  }
}

fn rms() -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < PARTS; i++) {
    sum += halfway_squares[i];
  }
  return select(1.0, rms_of(sum), NORM);
}

// Adds up the slices of a row; the first PLACES threads get results.
fn finish_row(r: u32, place: vec2u, at: Target, first_row: u32, lid: u32) {
  if (r > 0u) {
    workgroupBarrier();  // the last row's sums have been read by all
  }
  give_sums(r, lid);
  if (NORM && lid % PLACES == 0u) {
    slice_squares[lid / PLACES] = squares[r];
  }
  workgroupBarrier();
  if (NORM && lid < PARTS) {
    let four = lid * 4u;
    halfway_squares[lid] =
      (slice_squares[four] + slice_squares[four + 1u]) + (slice_squares[four + 2u] + slice_squares[four + 3u]);
  }
  add_slices(lid);
  workgroupBarrier();
  if (at.writes && first_row + r < p.rows) {
    store(at.part, first_row + r, at.quad, result_of(place, rms(), lid));
  }
}

fn make_rows(first_row: u32, strip: u32, lid: u32) {
  let place = place_of(strip, lid);
  for (var round = 0u; round < ROUNDS; round++) {
    multiply_rows(round * STEP + lid / PLACES, place, first_row);
  }
  let at = target_of(strip, lid);
  finish_row(0u, place, at, first_row, lid);
  finish_row(1u, place, at, first_row, lid);
  finish_row(2u, place, at, first_row, lid);
  finish_row(3u, place, at, first_row, lid);
  if (ROWS > 4u) {
    finish_row(4u % ROWS, place, at, first_row, lid);
    finish_row(5u % ROWS, place, at, first_row, lid);
    finish_row(6u % ROWS, place, at, first_row, lid);
    finish_row(7u % ROWS, place, at, first_row, lid);
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
