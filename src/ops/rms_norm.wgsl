// y = x · rsqrt(mean of squares + eps) · weight, for GPUs. A workgroup has a row, a thread SHARE of its vectors of four
// elements, which it keeps: all loads are under way before the first is used. Squares are added up in two steps through workgroup
// memory. All loops have as many rounds as constants say.
//! variadic
//! ends
//! use grid
struct Params {
  rows: u32,
  eps: f32,
}
@group(0) @binding(0) var<uniform> p: Params;
const SHARE = (CHUNKS + SIZE - 1u) / SIZE;
const PARTS = SIZE / 8u;
var<workgroup> squares: array<array<f32, 8u>, PARTS>;
var<workgroup> parts: array<f32, PARTS>;

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  // Workgroups behind the last row make it too, and keep it for themselves: nothing waits for the comparison.
  let row = group_index(wid, nwg);
  var values: array<vec4f, SHARE>;
  var weighted: array<vec4f, SHARE>;
  for (var i = 0u; i < SHARE; i++) {
    let chunk = min(i * SIZE + lid, CHUNKS - 1u);
    values[i] = x_quad(row * CHUNKS + chunk);
    weighted[i] = weight_quad(chunk);
  }
  let eps = p.eps;
  let writes = row < p.rows;
  var square = 0.0;
  for (var i = 0u; i < SHARE; i++) {
    weighted[i] *= values[i];
    square += select(0.0, dot(values[i], values[i]), i * SIZE + lid < CHUNKS);
  }
  squares[lid / 8u][lid % 8u] = square;
  workgroupBarrier();
  if (lid < PARTS) {
    let eight = squares[lid];
    parts[lid] = ((eight[0] + eight[1]) + (eight[2] + eight[3])) + ((eight[4] + eight[5]) + (eight[6] + eight[7]));
  }
  workgroupBarrier();
  let all = parts;
  var sum = 0.0;
  for (var i = 0u; i < PARTS; i++) {
    sum += all[i];
  }
  let rms = inverseSqrt(sum / f32(CHUNKS * 4u) + eps);
  for (var i = 0u; i < SHARE; i++) {
    let chunk = i * SIZE + lid;
    if (writes && chunk < CHUNKS) {
      y_put(row * CHUNKS + chunk, weighted[i] * rms);
    }
  }
}
