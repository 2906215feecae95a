// A 4-bit linear whose x is in 8 bits (quantize_activations), so that four products are one instruction; for many rows, and
// only where the user allows it. A workgroup makes a strip (snippets/q4_strips.wgsl) of a tile of eight rows. Its slices share
// out the blocks of the depth, 32 elements each. Products of a block are summed up as integers, then scaled. A weight of two
// planes (PLANES) is 16 · first + second; of gate and up projection (SWIGLU) a thread has the same columns.
//! variadic
//! ends
//! use grid swiglu q4_bytes q4_strips
const BLOCKS = (WORDS + 3u) / 4u;
const GROUP_BLOCKS = GROUP_WORDS / 4u;
const BLOCK_ROUNDS = (BLOCKS + SLICES - 1u) / SLICES;

// Four columns of a block: the even and the odd nibbles of each word, as bytes.
struct Weights {
  even0: vec4u,
  odd0: vec4u,
  even1: vec4u,
  odd1: vec4u,
  even2: vec4u,
  odd2: vec4u,
  even3: vec4u,
  odd3: vec4u,
}
// A block of a row of x.
struct Row {
  a: vec4u,
  b: vec4u,
  scale: f32,
  sum: f32,
}

fn nibbles(bits: vec4u) -> vec4u {
  return bits & vec4u(0x0f0f0f0fu);
}
fn load_weights(block: u32, place: vec2u) -> Weights {
  let first = block * 4u;
  let at = place.x * WORDS;
  let w0 = w[(at + min(first, WORDS - 1u)) * 16u + place.y];
  let w1 = w[(at + min(first + 1u, WORDS - 1u)) * 16u + place.y];
  let w2 = w[(at + min(first + 2u, WORDS - 1u)) * 16u + place.y];
  let w3 = w[(at + min(first + 3u, WORDS - 1u)) * 16u + place.y];
  return Weights(nibbles(w0), nibbles(w0 >> vec4u(4u)), nibbles(w1), nibbles(w1 >> vec4u(4u)),
                 nibbles(w2), nibbles(w2 >> vec4u(4u)), nibbles(w3), nibbles(w3 >> vec4u(4u)));
}

// Blocks behind the last one count as 0.
fn load_row(block: u32, row: u32) -> Row {
  let at = (min(row, p.rows - 1u) * BLOCKS + min(block, BLOCKS - 1u)) * 3u;
  let factors = bitcast<vec4f>(x[at + 2u]);
  let exists = BLOCKS % SLICES == 0u || block < BLOCKS;
  return Row(x[at], x[at + 1u], select(0.0, factors.x, exists), select(0.0, factors.y, exists));
}

fn dot_words(even: vec4u, odd: vec4u, xe: u32, xo: u32) -> vec4i {
  return vec4i(dot4I8Packed(even.x, xe) + dot4I8Packed(odd.x, xo), dot4I8Packed(even.y, xe) + dot4I8Packed(odd.y, xo),
               dot4I8Packed(even.z, xe) + dot4I8Packed(odd.z, xo), dot4I8Packed(even.w, xe) + dot4I8Packed(odd.w, xo));
}
fn dot_block(v: Weights, x: Row) -> vec4i {
  return dot_words(v.even0, v.odd0, x.a.x, x.a.y) + dot_words(v.even1, v.odd1, x.a.z, x.a.w) +
         dot_words(v.even2, v.odd2, x.b.x, x.b.y) + dot_words(v.even3, v.odd3, x.b.z, x.b.w);
}

fn multiply_row(s: u32, r: u32, first: Weights, second: Weights, x: Row, scale: vec4f, minimum: vec4f) {
  var products = dot_block(first, x);
  if (PLANES) {
    products = products * 16 + dot_block(second, x);
  }
  let sum = fma(vec4f(products), vec4f(x.scale), vec4f(ZERO * x.sum));
  acc[s * ROWS + r] = fma(sum, scale, acc[s * ROWS + r]);
  if (MINIMA) {
    acc[s * ROWS + r] = fma(vec4f(x.sum), minimum, acc[s * ROWS + r]);
  }
}

// One weight of the pair, or both planes of one.
fn multiply_rows(s: u32, block: u32, place: vec2u, first_row: u32) {
  let here = vec2u(place.x + s * p.second, place.y);
  let group = (here.x * GROUPS + min(block, BLOCKS - 1u) / GROUP_BLOCKS) * 16u + here.y;
  let scale = scale_quad(group);
  let minimum = minimum_quad(group);
  let first = load_weights(block, here);
  var second: Weights;
  if (PLANES) {
    second = load_weights(block, vec2u(place.x + p.second, place.y));
  }
  multiply_row(s, 0u, first, second, load_row(block, first_row), scale, minimum);
  multiply_row(s, 1u, first, second, load_row(block, first_row + 1u), scale, minimum);
  multiply_row(s, 2u, first, second, load_row(block, first_row + 2u), scale, minimum);
  multiply_row(s, 3u, first, second, load_row(block, first_row + 3u), scale, minimum);
  multiply_row(s, 4u, first, second, load_row(block, first_row + 4u), scale, minimum);
  multiply_row(s, 5u, first, second, load_row(block, first_row + 5u), scale, minimum);
  multiply_row(s, 6u, first, second, load_row(block, first_row + 6u), scale, minimum);
  multiply_row(s, 7u, first, second, load_row(block, first_row + 7u), scale, minimum);
}

// Adds up the slices of AT_ONCE rows; the first PLACES threads of each get results.
fn finish_rows(r: u32, place: vec2u, at: Target, first_row: u32, lid: u32) {
  if (r > 0u) {
    workgroupBarrier();  // the sums of the rows before have been read by all
  }
  give_sums(r, lid);
  workgroupBarrier();
  add_slices(lid);
  workgroupBarrier();
  let row = first_row + r + lid / PLACES;
  if (at.writes && row < p.rows) {
    store(at.part, row, at.quad, result_of(place, totals_of(lid), 1.0));
  }
}

fn make_rows(first_row: u32, strip: u32, lid: u32) {
  let place = place_of(strip, lid);
  for (var round = 0u; round < BLOCK_ROUNDS; round++) {
    let block = round * SLICES + lid / PLACES;
    multiply_rows(0u, block, place, first_row);
    if (SWIGLU) {
      multiply_rows(SUMS - 1u, block, place, first_row);
    }
  }
  let at = target_of(strip, lid);
  finish_rows(0u, place, at, first_row, lid);
  finish_rows(AT_ONCE, place, at, first_row, lid);
  if (AT_ONCE < 4u) {
    finish_rows(2u * AT_ONCE % ROWS, place, at, first_row, lid);
    finish_rows(3u * AT_ONCE % ROWS, place, at, first_row, lid);
  }
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  // Neighbouring workgroups make other rows of the same columns, so that they find the weights in a cache.
  let index = group_index(wid, nwg);
  if (index < p.strips * p.tiles) {
    make_rows(index % p.tiles * ROWS, index / p.tiles, lid);
  }
}
