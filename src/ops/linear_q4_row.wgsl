// One row of x times 4-bit weights, for GPUs (snippets/q4_strips.wgsl). In a round a thread loads the weights of UNROLL words;
// meanwhile the workgroup puts x for these words into workgroup memory, four elements a thread, so that what x is made of (a
// norm's weights, or splits of attention: snippets/q4_x_*.wgsl) is worked out once for all columns. All loops have as many
// rounds as constants say; words have names, because not every compiler keeps an array in registers.
//! variadic
//! ends
//! use grid swiglu q4_bytes q4_strips
const ROWS = 1u;
const FIRST_RESIDUAL = !NORM && !SWIGLU;
var<workgroup> staged: array<array<array<vec4f, 2u>, SLICES>, PLACES / 2u>;
var<workgroup> totals: array<array<array<f32, 2u>, SLICES>, PLACES / 2u>;
// Sums of squares: of threads, then over four slices, then over all.
var<workgroup> squares: array<array<array<f32, PLACES>, 4u>, PARTS>;
var<workgroup> part_squares: array<array<f32, PLACES>, PARTS>;
var<workgroup> place_squares: array<f32, PLACES>;

// A thread stages four elements of one of its slice's words; if UNROLL is less than 4, some stage what nobody reads: no
// branch, so that x and weights are loaded at the same time.
fn chunk_of(round: u32, lid: u32) -> u32 {
  return 2u * (round * STEP + lid % PLACES / 2u * SLICES + lid / PLACES) + lid % 2u;
}

// Returns the sum of the squares of a thread's elements before the norm's weights.
fn stage(chunk: u32, x: Chunk, norm: vec4f, lid: u32) -> f32 {
  let v = select(vec4f(), value_of(x, chunk), EXACT || chunk < 2u * WORDS);
  let weighted = v * norm;
  staged[lid % PLACES / 2u][lid / PLACES][lid % 2u] = weighted;
  totals[lid % PLACES / 2u][lid / PLACES][lid % 2u] = dot(weighted, vec4f(1.0));
  return dot(v, v);
}

// What a thread loads for a round before x is known.
struct Round {
  x: Chunk,
  norm: vec4f,
  streams0: array<Stream, STREAMS>,
  streams1: array<Stream, STREAMS>,
  streams2: array<Stream, STREAMS>,
  streams3: array<Stream, STREAMS>,
}
fn load_round(round: u32, place: vec2u, lid: u32) -> Round {
  let word = round * STEP + lid / PLACES;
  let chunk = chunk_of(round, lid);
  var out: Round;
  out.x = load_x(chunk);
  out.norm = norm_at(chunk);
  out.streams0 = load_streams(word, place);
  if (UNROLL > 1u) {
    out.streams1 = load_streams(word + SLICES, place);
  }
  if (UNROLL > 2u && AHEAD > 2u) {
    out.streams2 = load_streams(word + 2u * SLICES, place);
  }
  if (UNROLL > 3u && AHEAD > 2u) {
    out.streams3 = load_streams(word + 3u * SLICES, place);
  }
  return out;
}

// x of a word, and the sums of its halves.
struct Staged {
  x: array<vec4f, 2u>,
  totals: array<f32, 2u>,
}
fn staged_word(i: u32, slice: u32) -> Staged {
  return Staged(staged[i % UNROLL][slice], totals[i % UNROLL][slice]);
}
fn multiply_staged(streams: array<Stream, STREAMS>, word: Staged) {
  multiply(streams, word.x[0u], word.x[1u], word.totals[0u] + word.totals[1u], 0u);
}
// The last words are loaded while the first are multiplied: more would not fit the registers of every GPU.
fn multiply_round(index: u32, round: Round, place: vec2u, slice: u32) {
  let word = index * STEP + slice;
  var streams2 = round.streams2;
  var streams3 = round.streams3;
  var streams4: array<Stream, STREAMS>;
  var streams5: array<Stream, STREAMS>;
  if (UNROLL > 2u && AHEAD == 2u) {
    streams2 = load_streams(word + 2u * SLICES, place);
  }
  if (UNROLL > 3u && AHEAD == 2u) {
    streams3 = load_streams(word + 3u * SLICES, place);
  }
  if (UNROLL > 4u) {
    streams4 = load_streams(word + 4u * SLICES, place);
  }
  if (UNROLL > 5u) {
    streams5 = load_streams(word + 5u * SLICES, place);
  }
  let x0 = staged_word(0u, slice);
  let x1 = staged_word(1u, slice);
  let x2 = staged_word(2u, slice);
  let x3 = staged_word(3u, slice);
  let x4 = staged_word(4u, slice);
  let x5 = staged_word(5u, slice);
  multiply_staged(round.streams0, x0);
  if (UNROLL > 1u) {
    multiply_staged(round.streams1, x1);
  }
  if (UNROLL > 2u) {
    multiply_staged(streams2, x2);
  }
  if (UNROLL > 3u) {
    multiply_staged(streams3, x3);
  }
  if (UNROLL > 4u) {
    multiply_staged(streams4, x4);
  }
  if (UNROLL > 5u) {
    multiply_staged(streams5, x5);
  }
}

fn add_squares(lid: u32) {
  if (NORM && lid < PLACES * PARTS) {
    let part = lid / PLACES;
    let place = lid % PLACES;
    var four: array<f32, 4u>;
    for (var i = 0u; i < 4u; i++) {
      four[i] = squares[part][i][place];
    }
    part_squares[part][place] = (four[0u] + four[1u]) + (four[2u] + four[3u]);
  }
}
fn add_part_squares(lid: u32) {
  if (NORM && lid < PLACES) {
    var parts: array<f32, PARTS>;
    for (var i = 0u; i < PARTS; i++) {
      parts[i] = part_squares[i][lid];
    }
    var sum = 0.0;
    for (var i = 0u; i < PARTS; i++) {
      sum += parts[i];
    }
    place_squares[lid] = sum;
  }
}
fn rms() -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < min(PLACES, 2u * UNROLL); i++) {  // who else has squares has those of what nobody reads
    sum += place_squares[i];
  }
  return select(1.0, rms_of(sum), NORM);
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  // Workgroups behind the last strip make it too, and keep it for themselves: nothing waits for the comparison.
  let strip = group_index(wid, nwg);
  let place = place_of(strip, lid);
  let slice = lid / PLACES;
  let residual = residual_four(0u, strip * PLACES + lid % PLACES);
  load_ahead(lid);
  var loaded = load_round(0u, place, lid);
  let at = target_of(strip, lid);
  prepare_x(lid);
  acc[0] = select(vec4f(), residual, FIRST_RESIDUAL && lid < PLACES);
  var square = stage(chunk_of(0u, lid), loaded.x, loaded.norm, lid);
  for (var round = 1u; round < ROUNDS; round++) {
    workgroupBarrier();
    let before = loaded;
    loaded = load_round(round, place, lid);
    multiply_round(round - 1u, before, place, slice);
    workgroupBarrier();  // x of the round before has been read by all
    square += stage(chunk_of(round, lid), loaded.x, loaded.norm, lid);
  }
  if (NORM) {
    squares[slice / 4u][slice % 4u][lid % PLACES] = square;
  }
  workgroupBarrier();
  multiply_round(ROUNDS - 1u, loaded, place, slice);
  add_squares(lid);
  give_sums(0u, lid);
  workgroupBarrier();
  add_part_squares(lid);
  add_slices(lid);
  workgroupBarrier();
  if (at.writes) {
    let totals = totals_of(lid);
    put(at.part, 0u, at.quad, result_of(place, totals, rms()) + select(residual, vec4f(), FIRST_RESIDUAL));
  }
}
