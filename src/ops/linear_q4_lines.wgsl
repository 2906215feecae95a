// A 4-bit linear for GPUs, weights in blocks of 64 columns (q4_tiles.h). A workgroup makes a strip: 32
// columns of ROWS rows: all of them if they are one or up to four, else a tile of eight. Eight neighbouring threads have four columns each, so that they read a whole line of 128
// bytes; they are one of SLICES slices, which share out the words of the depth. A thread begins with loads for UNROLL words,
// then multiplies. At the end slices are added up in two steps through workgroup memory. All loops have as many rounds as
// constants say; words and rows have names, because not every compiler keeps an array in registers. If PAIRED, a thread has
// the same columns of two weights. The specialisation is that of the other kernels of the family
// (snippets/q4_linear.wgsl).
//! variadic
//! ends
//! use grid swiglu q4_bytes
struct Params {
  rows: u32,
  strips: u32,
  second: u32,   // blocks between the two weights (PAIRED)
  tiles: u32,    // of rows
  ends: vec4u,   // first strip behind each part
  columns: vec4u,
  eps: f32,
}
@group(0) @binding(0) var<uniform> p: Params;

const PLACES = 8u;
const SLICES = SIZE / PLACES;
const PAIRED = SWIGLU || PLANES;
const STREAMS = 1u + u32(PAIRED);  // weights that a thread reads
const SUMS = 1u + u32(SWIGLU);     // results that it makes of them
// Nibbles are 0 to 15, so a weight of 0 is 8, or 16 · 8 + 8.
const ZERO = f32(SHIFT) - 8.0 - 128.0 * f32(u32(PLANES));
const STEP = SLICES * UNROLL;
const ROUNDS = (WORDS + STEP - 1u) / STEP;
const PARTS = SLICES / 4u;  // of the sum's first step
const EXACT = WORDS % STEP == 0u;

// Of four columns: eight weights each, and what their group is multiplied by.
struct Stream {
  bits: vec4u,
  scale: vec4f,
  minimum: vec4f,
}
struct Eight {
  a: vec4f,
  b: vec4f,
}
struct Loaded {
  stream: array<Stream, STREAMS>,
  norm: Eight,
  x: Eight,  // of the first row
}
var<private> acc: array<vec4f, SUMS * ROWS>;
var<private> squares: array<f32, ROWS>;
var<workgroup> sums: array<vec4f, SUMS * SIZE>;
var<workgroup> halfway: array<vec4f, SUMS * PLACES * PARTS>;
var<workgroup> slice_squares: array<f32, SLICES>;
var<workgroup> halfway_squares: array<f32, PARTS>;

fn load_x(word: u32, row: u32) -> Eight {
  let at = (min(row, p.rows - 1u) * WORDS + select(min(word, WORDS - 1u), word, EXACT)) * 2u;
  return Eight(vec4f(x[at]), vec4f(x[at + 1u]));
}

fn load(word: u32, place: vec2u, first_row: u32) -> Loaded {
  let at = select(min(word, WORDS - 1u), word, EXACT);
  var out: Loaded;
  for (var s = 0u; s < STREAMS; s++) {
    let block = place.x + s * p.second;
    out.stream[s].bits = w[(block * WORDS + at) * 16u + place.y];
    if (!PLANES || s == 0u) {
      let group = (block * GROUPS + at / GROUP_WORDS) * 16u + place.y;
      out.stream[s].scale = scale_quad(group);
      out.stream[s].minimum = minimum_quad(group);
    }
  }
  if (NORM) {
    out.norm = Eight(norm_at(at * 2u), norm_at(at * 2u + 1u));
  }
  out.x = load_x(word, first_row);
  return out;
}

// ZERO and minima count for the sum of x.
fn multiply(word: u32, loaded: Loaded, from_row: Eight, r: u32) {
  var a = from_row.a;
  var b = from_row.b;
  if (!EXACT && word >= WORDS) {
    a = vec4f();
    b = vec4f();
  }
  if (NORM) {
    squares[r] += dot(a, a) + dot(b, b);
    a *= loaded.norm.a;
    b *= loaded.norm.b;
  }
  let even = vec4f(a.x, a.z, b.x, b.z);
  let odd = vec4f(a.y, a.w, b.y, b.w);
  let total = dot(a + b, vec4f(1.0));
  for (var s = 0u; s < SUMS; s++) {
    let weights = loaded.stream[s];
    var sum = dot_nibbles(weights.bits, even, odd, select(ZERO * total, 0.0, PLANES));
    if (PLANES) {
      sum = fma(vec4f(16.0), sum, dot_nibbles(loaded.stream[STREAMS - 1u].bits, even, odd, ZERO * total));
    }
    acc[s * ROWS + r] = fma(sum, weights.scale, acc[s * ROWS + r]);
    if (MINIMA) {
      acc[s * ROWS + r] = fma(vec4f(total), weights.minimum, acc[s * ROWS + r]);
    }
  }
}

// The rows behind the first one.
fn multiply_rows(word: u32, loaded: Loaded, first_row: u32) {
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
  multiply(word, loaded, x1, 1u % ROWS);
  multiply(word, loaded, x2, 2u % ROWS);
  multiply(word, loaded, x3, 3u % ROWS);
  if (ROWS > 4u) {
    multiply(word, loaded, x4, 4u % ROWS);
    multiply(word, loaded, x5, 5u % ROWS);
    multiply(word, loaded, x6, 6u % ROWS);
    multiply(word, loaded, x7, 7u % ROWS);
  }
}

// Adds up the slices of a row; the first PLACES threads get results.
fn add_slices(r: u32, lid: u32) {
  for (var s = 0u; s < SUMS; s++) {
    sums[s * SIZE + lid] = acc[s * ROWS + r];
  }
  if (NORM && lid % PLACES == 0u) {
    slice_squares[lid / PLACES] = squares[r];
  }
  workgroupBarrier();
  if (NORM && lid < PARTS) {
    let at = lid * 4u;
    halfway_squares[lid] = (slice_squares[at] + slice_squares[at + 1u]) + (slice_squares[at + 2u] + slice_squares[at + 3u]);
  }
  if (lid < PLACES * PARTS) {
    let at = lid / PLACES * 4u * PLACES + lid % PLACES;
    for (var s = 0u; s < SUMS; s++) {
      let first = s * SIZE + at;
      halfway[s * PLACES * PARTS + lid] =
        (sums[first] + sums[first + PLACES]) + (sums[first + 2u * PLACES] + sums[first + 3u * PLACES]);
    }
  }
  workgroupBarrier();
}

fn finish(place: vec2u, quad: u32, part: u32, row: u32, lid: u32) {
  var total = array<vec4f, SUMS>();
  for (var i = 0u; i < PARTS; i++) {
    for (var s = 0u; s < SUMS; s++) {
      total[s] += halfway[s * PLACES * PARTS + i * PLACES + lid];
    }
  }
  if (NORM) {
    var sum = 0.0;
    for (var i = 0u; i < PARTS; i++) {
      sum += halfway_squares[i];
    }
    let rms = inverseSqrt(sum / f32(WORDS * 8u) + p.eps);
    for (var s = 0u; s < SUMS; s++) {
      total[s] *= rms;
    }
  }
  var result = total[0] + bias_quad(place.x * 16u + place.y);
  if (SWIGLU) {
    result = swiglu(result, total[SUMS - 1u] + bias_quad((place.x + p.second) * 16u + place.y));
  }
  store(part, row, quad, result);
}

fn finish_row(r: u32, place: vec2u, quad: u32, part: u32, first_row: u32, writes: bool, lid: u32) {
  if (r > 0u) {
    workgroupBarrier();  // the last row's sums have been read by all
  }
  add_slices(r, lid);
  if (writes && first_row + r < p.rows) {
    finish(place, quad, part, first_row + r, lid);
  }
}

fn make_rows(first_row: u32, strip: u32, lid: u32) {
  let place = vec2u(strip / 2u, strip % 2u * PLACES + lid % PLACES);
  let slice = lid / PLACES;
  for (var round = 0u; round < ROUNDS; round++) {
    let word = round * STEP + slice;
    let loaded0 = load(word, place, first_row);
    var loaded1: Loaded;
    var loaded2: Loaded;
    var loaded3: Loaded;
    if (UNROLL > 1u) {
      loaded1 = load(word + SLICES, place, first_row);
    }
    if (UNROLL > 2u) {
      loaded2 = load(word + 2u * SLICES, place, first_row);
    }
    if (UNROLL > 3u) {
      loaded3 = load(word + 3u * SLICES, place, first_row);
    }
    multiply(word, loaded0, loaded0.x, 0u);
    if (ROWS > 1u) {
      multiply_rows(word, loaded0, first_row);
    }
    if (UNROLL > 1u) {
      multiply(word + SLICES, loaded1, loaded1.x, 0u);
    }
    if (UNROLL > 2u) {
      multiply(word + 2u * SLICES, loaded2, loaded2.x, 0u);
    }
    if (UNROLL > 3u) {
      multiply(word + 3u * SLICES, loaded3, loaded3.x, 0u);
    }
  }
  let part = u32(strip >= p.ends.x) + u32(strip >= p.ends.y);
  let start = select(0u, p.ends[max(part, 1u) - 1u], part > 0u);
  let quad = (strip - start) * PLACES + lid % PLACES;
  let writes = lid < PLACES && quad * 4u < p.columns[part];
  finish_row(0u, place, quad, part, first_row, writes, lid);
  if (ROWS > 1u) {
    finish_row(1u % ROWS, place, quad, part, first_row, writes, lid);
    finish_row(2u % ROWS, place, quad, part, first_row, writes, lid);
    finish_row(3u % ROWS, place, quad, part, first_row, writes, lid);
  }
  if (ROWS > 4u) {
    finish_row(4u % ROWS, place, quad, part, first_row, writes, lid);
    finish_row(5u % ROWS, place, quad, part, first_row, writes, lid);
    finish_row(6u % ROWS, place, quad, part, first_row, writes, lid);
    finish_row(7u % ROWS, place, quad, part, first_row, writes, lid);
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
