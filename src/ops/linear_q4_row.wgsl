// One row of x times 4-bit weights, for GPUs (snippets/q4_strips.wgsl). In a round a thread loads the weights of UNROLL words;
// meanwhile the workgroup puts x for these words into workgroup memory, four elements a thread, so that what x is made of (a
// norm's weights, or splits of attention: snippets/q4_x_*.wgsl) is worked out once for all columns. All loops have as many
// rounds as constants say; words have names, because not every compiler keeps an array in registers.
//! variadic
//! ends
//! use grid swiglu q4_bytes q4_strips
const ROWS = 1u;
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
  let counts = lid % PLACES < 2u * UNROLL && (EXACT || chunk < 2u * WORDS);
  let v = select(vec4f(), value_of(x, chunk), counts);
  let weighted = v * norm;
  staged[lid % PLACES / 2u][lid / PLACES][lid % 2u] = weighted;
  totals[lid % PLACES / 2u][lid / PLACES][lid % 2u] = dot(weighted, vec4f(1.0));
  return dot(v, v);
}

fn multiply_staged(streams: array<Stream, STREAMS>, i: u32, slice: u32) {
  multiply(streams, staged[i][slice][0u], staged[i][slice][1u], totals[i][slice][0u] + totals[i][slice][1u], 0u);
}

fn add_squares(lid: u32) {
  if (NORM && lid < PLACES * PARTS) {
    let part = lid / PLACES;
    let place = lid % PLACES;
    part_squares[part][place] =
      (squares[part][0u][place] + squares[part][1u][place]) + (squares[part][2u][place] + squares[part][3u][place]);
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
  for (var i = 0u; i < PLACES; i++) {
    sum += place_squares[i];
  }
  return select(1.0, rms_of(sum), NORM);
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  // Workgroups behind the last strip make it too, and keep it for themselves: nothing waits for the comparison.
  let index = group_index(wid, nwg);
  let strip = min(index, p.strips - 1u);
  let place = place_of(strip, lid);
  let residual = residual_four(0u, strip * PLACES + lid % PLACES);
  let slice = lid / PLACES;
  var at: Target;
  var square = 0.0;
  for (var round = 0u; round < ROUNDS; round++) {
    let word = round * STEP + slice;
    let chunk = chunk_of(round, lid);
    let x = load_x(chunk);
    let norm = norm_at(chunk);
    let streams0 = load_streams(word, place);
    var streams1: array<Stream, STREAMS>;
    var streams2: array<Stream, STREAMS>;
    var streams3: array<Stream, STREAMS>;
    if (UNROLL > 1u) {
      streams1 = load_streams(word + SLICES, place);
    }
    if (UNROLL > 2u) {
      streams2 = load_streams(word + 2u * SLICES, place);
    }
    if (UNROLL > 3u) {
      streams3 = load_streams(word + 3u * SLICES, place);
    }
    if (round == 0u) {
      at = target_of(strip, lid);
      prepare_x(lid);
    } else {
      workgroupBarrier();  // the last round's x has been read by all
    }
    square += stage(chunk, x, norm, lid);
    if (NORM && round == ROUNDS - 1u) {
      squares[slice / 4u][slice % 4u][lid % PLACES] = square;
    }
    workgroupBarrier();
    multiply_staged(streams0, 0u, slice);
    if (UNROLL > 1u) {
      multiply_staged(streams1, 1u % UNROLL, slice);
    }
    if (UNROLL > 2u) {
      multiply_staged(streams2, 2u % UNROLL, slice);
    }
    if (UNROLL > 3u) {
      multiply_staged(streams3, 3u % UNROLL, slice);
    }
  }
  add_squares(lid);
  give_sums(0u, lid);
  workgroupBarrier();
  add_part_squares(lid);
  add_slices(lid);
  workgroupBarrier();
  if (at.writes && index < p.strips) {
    put(at.part, 0u, at.quad, result_of(place, rms(), lid) + residual);
  }
}
