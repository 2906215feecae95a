// Puts together what GROUPS groups of LANES threads, SIZE in all, have of a softmax: each group a maximum, a sum and weighted values, each
// thread of it four elements of those, in workgroup memory.
const LANES = 16u;
const GROUPS = SIZE / LANES;
const LOWEST = -3.4028234663852886e38;
// Nested, so that only what differs between threads is computed and compared with a bound.
var<workgroup> parts: array<array<array<vec4f, LANES>, GROUPS>, HEADS>;
var<workgroup> statistics: array<array<vec2f, GROUPS>, HEADS>;  // maximum, sum

struct Joined {
  value: vec4f,
  top: f32,
  sum: f32,
}
fn join(head: u32, lane: u32) -> Joined {
  var out = Joined(vec4f(), LOWEST, 0.0);
  // Loaded first, so that nobody waits for each.
  var from_group: array<vec2f, GROUPS>;
  var values: array<vec4f, GROUPS>;
  for (var g = 0u; g < GROUPS; g++) {
    from_group[g] = statistics[head][g];
    values[g] = parts[head][g][lane];
  }
  for (var g = 0u; g < GROUPS; g++) {
    out.top = max(out.top, from_group[g].x);
  }
  for (var g = 0u; g < GROUPS; g++) {
    let weight = exp(from_group[g].x - out.top);
    out.sum += weight * from_group[g].y;
    out.value += weight * values[g];
  }
  return out;
}
