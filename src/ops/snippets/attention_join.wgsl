// Puts together what GROUPS groups of LANES threads have of a softmax: each group a maximum, a sum and weighted values, each
// thread of it four elements of those, in workgroup memory.
const LANES = 16u;
const SIZE = 128u;
const GROUPS = SIZE / LANES;
const LOWEST = -3.4028234663852886e38;
var<workgroup> parts: array<vec4f, HEADS * SIZE>;
var<workgroup> statistics: array<vec2f, HEADS * GROUPS>;  // maximum, sum

struct Joined {
  value: vec4f,
  top: f32,
  sum: f32,
}
fn join(head: u32, lane: u32) -> Joined {
  var out = Joined(vec4f(), LOWEST, 0.0);
  for (var g = 0u; g < GROUPS; g++) {
    out.top = max(out.top, statistics[head * GROUPS + g].x);
  }
  for (var g = 0u; g < GROUPS; g++) {
    let from_group = statistics[head * GROUPS + g];
    let weight = exp(from_group.x - out.top);
    out.sum += weight * from_group.y;
    out.value += weight * parts[head * SIZE + g * LANES + lane];
  }
  return out;
}
