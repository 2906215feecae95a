// x of a row that attention left in SPLITS splits (attention_put_splits.wgsl), four elements at a time. What each split counts
// for in its head is worked out once for a workgroup, by a thread for each. What is added up is loaded first, so that nobody waits
// for each.
struct Splits {
  values: array<array<vec4f, HEADS * HEAD_CHUNKS>, SPLITS>,
  statistics: array<array<vec4f, SPLITS>, HEADS>,  // maximum, sum, two words of nothing
}
const AHEAD = 2u;  // words of weights that are loaded along with x
struct Chunk {
  values: array<vec4f, SPLITS>,
}
const TURNS = (HEADS * SPLITS + SIZE - 1u) / SIZE;
const LISTED = TURNS * SIZE / SPLITS;  // heads, and some that nobody reads
var<private> own: array<vec2f, TURNS>;
var<workgroup> tops: array<array<f32, SPLITS>, LISTED>;
var<workgroup> weights: array<array<vec2f, SPLITS>, LISTED>;  // of values, and times the sum

fn load_ahead(lid: u32) {
  for (var turn = 0u; turn < TURNS; turn++) {
    let i = turn * SIZE + lid;
    own[turn] = x[0u].statistics[min(i / SPLITS, HEADS - 1u)][i % SPLITS].xy;
  }
}
fn load_x(chunk: u32) -> Chunk {
  let at = min(chunk, HEADS * HEAD_CHUNKS - 1u);
  var out: Chunk;
  for (var s = 0u; s < SPLITS; s++) {
    out.values[s] = x[0u].values[s][at];
  }
  return out;
}
fn prepare_x(lid: u32) {
  for (var turn = 0u; turn < TURNS; turn++) {
    let i = turn * SIZE + lid;
    tops[i / SPLITS][i % SPLITS] = own[turn].x;
  }
  workgroupBarrier();
  for (var turn = 0u; turn < TURNS; turn++) {
    let i = turn * SIZE + lid;
    let all = tops[i / SPLITS];
    var top = all[0u];
    for (var s = 1u; s < SPLITS; s++) {
      top = max(top, all[s]);
    }
    let weight = exp(own[turn].x - top);
    weights[i / SPLITS][i % SPLITS] = vec2f(weight, weight * own[turn].y);
  }
  workgroupBarrier();
}
fn value_of(x: Chunk, chunk: u32) -> vec4f {
  let counts = weights[chunk / HEAD_CHUNKS];
  var sum = 0.0;
  var value = vec4f();
  for (var s = 0u; s < SPLITS; s++) {
    value += counts[s].x * x.values[s];
    sum += counts[s].y;
  }
  return value / sum;
}
