// The matrix product with few results, for GPUs: a workgroup makes four columns of one row. Its 64 threads share out the
// steps, so that neighbours read neighbouring memory, and add their sums up in workgroup memory.
//! variadic
//! use grid gemm
const SIZE = 64u;
var<workgroup> partial: array<V4, SIZE>;

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let blocks = (p.columns + 3u) / 4u;
  let index = group_index(wid, nwg);
  let batch = index / (blocks * p.rows);
  if (batch >= p.batches) {
    return;
  }
  let row = index / blocks % p.rows;
  let column = index % blocks * 4u;
  let place = b_place(batch, column);
  var sum: V4;
  for (var i = lid; i < p.sections_y * p.sections_x * p.steps; i += SIZE) {
    let section = i / p.steps;
    let step = i % p.steps;
    let a = a_load(a_begin(batch, row, section), step);
    sum = add_row(sum, a, b_load(b_begin(place, section / p.sections_x, section % p.sections_x), step));
  }
  partial[lid] = sum;
  workgroupBarrier();
  for (var span = SIZE / 2u; span > 0u; span /= 2u) {
    if (lid < span) {
      partial[lid] += partial[lid + span];
    }
    workgroupBarrier();
  }
  if (lid == 0u) {
    put(batch, row, column, partial[0]);
  }
}
