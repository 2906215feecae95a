// Puts the splits of attention together. A workgroup has one (batch, head, query) and LANES chunks of four elements. Its
// eight groups of threads share out the splits, eight at a time, whose loads are all under way before the first is used; then
// the groups are joined. Loops count to constants or to p.rounds.
//! ends
//! use grid merge attention_join
const HEADS = 1u;
const AT_ONCE = 8u;

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let groups_per_row = (p.chunks + LANES - 1u) / LANES;
  let index = group_index(wid, nwg);
  let row = index / groups_per_row;
  if (row >= p.rows) {
    return;
  }
  let lane = lid % LANES;
  let chunk = index % groups_per_row * LANES + lane;
  var top = LOWEST;
  var sum = 0.0;
  var value = vec4f();
  for (var round = 0u; round < p.rounds; round++) {
    var statistic = array<vec2f, AT_ONCE>();
    var values = array<vec4f, AT_ONCE>();
    for (var i = 0u; i < AT_ONCE; i++) {
      let split = (round * AT_ONCE + i) * GROUPS + lid / LANES;
      let existing = min(split, p.splits - 1u);
      statistic[i] = select(vec2f(LOWEST, 0.0), statistic_at(row, existing), split < p.splits);
      values[i] = value_at(row, existing, min(chunk, p.chunks - 1u));
    }
    var new_top = top;
    for (var i = 0u; i < AT_ONCE; i++) {
      new_top = max(new_top, statistic[i].x);
    }
    let keep = exp(top - new_top);
    sum *= keep;
    value *= keep;
    top = new_top;
    for (var i = 0u; i < AT_ONCE; i++) {
      let counts = (round * AT_ONCE + i) * GROUPS + lid / LANES < p.splits;
      let weight = select(0.0, exp(statistic[i].x - top), counts);
      sum += weight * statistic[i].y;
      value += weight * values[i];
    }
  }
  parts[0u][lid / LANES][lane] = value;
  if (lane == 0u) {
    statistics[0u][lid / LANES] = vec2f(top, sum);
  }
  workgroupBarrier();
  if (lid < LANES && chunk < p.chunks) {
    let joined = join(0u, lane);
    let query = row % p.queries;
    let head = row / p.queries % p.heads;
    let batch = row / p.queries / p.heads;
    let value = select(joined.value / joined.sum, vec4f(), p.quiet == 1u && joined.sum == 0.0);
    put_result(batch * p.batch_stride + head * p.head_stride + query * p.query_stride, chunk, value);
  }
}
