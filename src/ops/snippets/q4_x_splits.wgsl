// x of a row that attention left in SPLITS splits (attention_put_splits.wgsl), four elements at a time. What each split counts
// for in its head is worked out once for a workgroup.
struct Chunk {
  values: array<vec4f, SPLITS>,
}
var<workgroup> tops: array<array<vec2f, SPLITS>, HEADS>;     // maximum, sum
var<workgroup> weights: array<array<vec2f, SPLITS>, HEADS>;  // of values, and times the sum

fn load_x(chunk: u32) -> Chunk {
  return Chunk(x[chunk]);
}
fn prepare_x(lid: u32) {
  for (var i = lid; i < HEADS * SPLITS; i += SIZE) {
    tops[i / SPLITS][i % SPLITS] = x[HEADS * HEAD_CHUNKS + i / SPLITS][i % SPLITS].xy;
  }
  workgroupBarrier();
  for (var i = lid; i < HEADS * SPLITS; i += SIZE) {
    let head = i / SPLITS;
    var top = tops[head][0u].x;
    for (var s = 1u; s < SPLITS; s++) {
      top = max(top, tops[head][s].x);
    }
    let own = tops[head][i % SPLITS];
    let weight = exp(own.x - top);
    weights[head][i % SPLITS] = vec2f(weight, weight * own.y);
  }
  workgroupBarrier();
}
fn value_of(x: Chunk, chunk: u32) -> vec4f {
  let head = chunk / HEAD_CHUNKS;
  var sum = 0.0;
  var value = vec4f();
  for (var s = 0u; s < SPLITS; s++) {
    let weight = weights[head][s];
    value += weight.x * x.values[s];
    sum += weight.y;
  }
  return value / sum;
}
