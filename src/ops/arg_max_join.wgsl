// The largest of the elements that arg_max_parts found, the first one if several are. One workgroup; each thread takes every
// 256th part.
//! ends
//! use best_of
struct Params { parts: u32, rounds: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> found: array<vec2u>;
@group(0) @binding(2) var<storage, read_write> y: array<i32>;

@compute @workgroup_size(SIZE)
fn main(@builtin(local_invocation_index) lid: u32) {
  var value = 0.0;
  var at = NOWHERE;
  for (var round = 0u; round < p.rounds; round++) {
    let part = round * SIZE + lid;
    let candidate = found[min(part, p.parts - 1u)];
    let v = bitcast<f32>(candidate.x);
    if (part < p.parts && (at == NOWHERE || v > value)) {
      value = v;
      at = candidate.y;
    }
  }
  pick_best(value, at, lid);
  if (lid == 0u) {
    y[0] = i32(place[0]);
  }
}
