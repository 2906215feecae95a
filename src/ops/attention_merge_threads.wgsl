// Puts the splits of attention together where barriers are dear: one thread per four elements of a (batch, head, query) walks
// its splits, twice.
//! use grid merge
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let index = group_index(wid, nwg) * 64u + lid;
  if (index >= p.rows * p.chunks) {
    return;
  }
  let row = index / p.chunks;
  let chunk = index % p.chunks;
  var top = statistic_at(row, 0u).x;
  for (var split = 1u; split < p.splits; split++) {
    top = max(top, statistic_at(row, split).x);
  }
  var sum = 0.0;
  var value = vec4f();
  for (var split = 0u; split < p.splits; split++) {
    let statistic = statistic_at(row, split);
    let weight = exp(statistic.x - top);
    sum += weight * statistic.y;
    value += weight * value_at(row, split, chunk);
  }
  let query = row % p.queries;
  let head = row / p.queries % p.heads;
  let batch = row / p.queries / p.heads;
  put_result(batch * p.batch_stride + head * p.head_stride + query * p.query_stride, chunk,
             select(value / sum, vec4f(), p.quiet == 1u && sum == 0.0));
}
