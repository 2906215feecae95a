// What 4-bit linears for GPUs share (linear_q4_row.wgsl, linear_q4_lines.wgsl). Weights lie in blocks of 64 columns
// (q4_tiles.h). A workgroup makes a strip: half a block or a whole one, of one or of ROWS rows. PLACES (8 or 16) neighbouring
// threads have four columns each, so that they read whole lines of 128 bytes; they are one of SLICES slices, which share out the
// words of the depth and are added up in two steps through workgroup memory. If PAIRED, a thread has the same columns of two
// weights. The specialisation is that of the other kernels of the family (snippets/q4_linear.wgsl), and SIZE, PLACES, UNROLL,
// WORDS, GROUPS, GROUP_WORDS and AT_ONCE: so many rows are added up side by side.
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

const STRIPS = 16u / PLACES;  // of a block
const SLICES = SIZE / PLACES;
const PAIRED = SWIGLU || PLANES;
const STREAMS = 1u + u32(PAIRED);  // weights that a thread reads
const SUMS = 1u + u32(SWIGLU);     // results that it makes of them
const SUM_GROUPS = SUMS * AT_ONCE;
// Nibbles are 0 to 15, so a weight of 0 is 8, or 16 · 8 + 8.
const ZERO = f32(SHIFT) - 8.0 - 128.0 * f32(u32(PLANES));
const STEP = SLICES * UNROLL;
const ROUNDS = (WORDS + STEP - 1u) / STEP;
const EXACT = WORDS % STEP == 0u;
const PARTS = SLICES / 4u;  // of the sum's first step

// Of four columns: eight weights each, and what their group is multiplied by.
struct Stream {
  bits: vec4u,
  scale: vec4f,
  minimum: vec4f,
}
var<private> acc: array<vec4f, SUMS * ROWS>;
// Nested, so that only what differs between threads is computed and compared with a bound.
var<workgroup> sums: array<array<array<array<vec4f, PLACES>, 4u>, PARTS>, SUM_GROUPS>;
var<workgroup> halfway: array<array<array<vec4f, PLACES>, PARTS>, SUM_GROUPS>;

// Where a thread's four columns are: a block, and a vec4 inside of it.
fn place_of(strip: u32, lid: u32) -> vec2u {
  return vec2u(strip / STRIPS, strip % STRIPS * PLACES + lid % PLACES);
}

// A word that exists; what is multiplied with one behind the last is 0.
fn existing(word: u32) -> u32 {
  return select(min(word, WORDS - 1u), word, EXACT);
}

fn load_streams(word: u32, place: vec2u) -> array<Stream, STREAMS> {
  let at = existing(word);
  var out: array<Stream, STREAMS>;
  for (var s = 0u; s < STREAMS; s++) {
    let block = place.x + s * p.second;
    out[s].bits = w[(block * WORDS + at) * 16u + place.y];
    if (!PLANES || s == 0u) {
      let group = (block * GROUPS + at / GROUP_WORDS) * 16u + place.y;
      out[s].scale = scale_quad(group);
      out[s].minimum = minimum_quad(group);
    }
  }
  return out;
}

// Adds a word's products with eight elements of row r: `total` is their sum, which ZERO and minima count for.
fn multiply(streams: array<Stream, STREAMS>, a: vec4f, b: vec4f, total: f32, r: u32) {
  let even = vec4f(a.x, a.z, b.x, b.z);
  let odd = vec4f(a.y, a.w, b.y, b.w);
  for (var s = 0u; s < SUMS; s++) {
    var sum = dot_nibbles(streams[s].bits, even, odd, select(ZERO * total, 0.0, PLANES));
    if (PLANES) {
      sum = fma(vec4f(16.0), sum, dot_nibbles(streams[STREAMS - 1u].bits, even, odd, ZERO * total));
    }
    acc[s * ROWS + r] = fma(sum, streams[s].scale, acc[s * ROWS + r]);
    if (MINIMA) {
      acc[s * ROWS + r] = fma(vec4f(total), streams[s].minimum, acc[s * ROWS + r]);
    }
  }
}

// The sums of slices in two steps, with a barrier behind each: of AT_ONCE rows from row r on, up to four groups. What is added is
// loaded first, so that nobody waits for each.
fn give_sums(r: u32, lid: u32) {
  let slice = lid / PLACES;
  for (var i = 0u; i < AT_ONCE; i++) {
    for (var s = 0u; s < SUMS; s++) {
      sums[i * SUMS + s][slice / 4u][slice % 4u][lid % PLACES] = acc[s * ROWS + r + i];
    }
  }
}
fn add_slices(lid: u32) {
  if (SUM_GROUPS == 4u || lid < SUM_GROUPS * PARTS * PLACES) {
    let group = select(lid / PLACES / PARTS, 0u, SUM_GROUPS == 1u);
    let part = lid / PLACES - group * PARTS;
    var slices: array<vec4f, 4u>;
    for (var i = 0u; i < 4u; i++) {
      slices[i] = sums[group][part][i][lid % PLACES];
    }
    halfway[group][part][lid % PLACES] = (slices[0u] + slices[1u]) + (slices[2u] + slices[3u]);
  }
}
// Of the first PLACES threads, or of those of row lid / PLACES from row r on.
fn totals_of(lid: u32) -> array<vec4f, SUMS> {
  let first = lid / PLACES * SUMS;
  var parts: array<array<vec4f, PARTS>, SUMS>;
  var out = array<vec4f, SUMS>();
  for (var s = 0u; s < SUMS; s++) {
    for (var i = 0u; i < PARTS; i++) {
      parts[s][i] = halfway[first + s][i][lid % PLACES];
    }
  }
  for (var s = 0u; s < SUMS; s++) {
    for (var i = 0u; i < PARTS; i++) {
      out[s] += parts[s][i];
    }
  }
  return out;
}

// What becomes of them, before a residual is added.
fn result_of(place: vec2u, totals: array<vec4f, SUMS>, rms: f32) -> vec4f {
  let result = totals[0] * rms + bias_quad(place.x * 16u + place.y);
  if (SWIGLU) {
    return swiglu(result, totals[SUMS - 1u] * rms + bias_quad((place.x + p.second) * 16u + place.y));
  }
  return result;
}
fn rms_of(squares: f32) -> f32 {
  return inverseSqrt(squares / f32(WORDS * 8u) + p.eps);
}

// Where they go.
struct Target {
  part: u32,
  quad: u32,
  writes: bool,
}
fn target_of(strip: u32, lid: u32) -> Target {
  let part = u32(strip >= p.ends.x) + u32(strip >= p.ends.y);
  let start = select(select(0u, p.ends.x, part > 0u), p.ends.y, part > 1u);
  let columns = select(select(p.columns.x, p.columns.y, part > 0u), p.columns.z, part > 1u);
  let quad = (strip - start) * PLACES + lid % PLACES;
  return Target(part, quad, (strip < p.strips) & (lid < PLACES * AT_ONCE) & (quad * 4u < columns));
}
