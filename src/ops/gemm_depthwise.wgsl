// A convolution whose filters look at one channel each (depth 1). A thread makes four neighbouring positions of one
// channel: per tap one weight and four values of the image.
//! variadic
//! use grid gemm
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let blocks = (p.columns + 3u) / 4u;
  let index = group_index(wid, nwg) * 64u + lid;
  let batch = index / (blocks * p.rows);
  if (batch >= p.batches) {
    return;
  }
  let row = index / blocks % p.rows;
  let column = index % blocks * 4u;
  let place = b_place(batch, column);
  var sum: V4;
  for (var sy = 0u; sy < p.sections_y; sy++) {
    for (var sx = 0u; sx < p.sections_x; sx++) {
      sum += b_across(b_begin(place, sy, sx), 0u) * a_one(a_begin(batch, row, section_of(sy, sx)), 0u);
    }
  }
  put(batch, row, column, sum);
}
